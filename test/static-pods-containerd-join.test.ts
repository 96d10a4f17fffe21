import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Containerd, noContainerd, startContainerd } from './support/containerd.ts'
import { eventually } from './support/eventually.ts'
import * as join from './support/pod-join.ts'
import { inContainerd } from './support/static-pods.ts'
import { thingsAbsent, whyNothingCanBeAbsent } from './support/things-absent.ts'

// The real agent with static pods in a real containerd: what joins with what while nothing else is there.

describe('an agent with static pods in containerd', { skip: noContainerd }, () => {
  let containerd: Containerd
  before(async () => {
    containerd = await startContainerd()
    await containerd.importRollcall()
  })
  after(() => containerd.close())

  const kind = (): join.JoinRuntime => ({
    ...inContainerd(containerd),
    flags: ['--runtime', 'cri', '--container-runtime-endpoint', containerd.endpoint],
    manifest: 'container.yaml',
    version: /^containerd:\/\/1\./,
  })
  const onMachine = (run: (machine: join.JoinMachine) => Promise<void>) => join.onJoinMachine(kind, run)

  test(
    'T1 a static pod serves the credential; it is up and asked while the API is down, and then the node joins',
    onMachine(join.credentialFromAPod),
  )
  test(
    'T1 everything absent at once: the pod runs, the agent stays, and says what it lacks',
    onMachine(join.everythingAbsent),
  )
  test(
    'K-5: API, bootstrap file, kubeconfig, CRI socket, HSM and a right clock absent, alone and together: the pod runs, the agent stays, and joins when the thing appears',
    { skip: whyNothingCanBeAbsent },
    () => thingsAbsent(kind, { take: () => containerd.stop(), give: () => containerd.start() }),
  )
  test(
    'T1 a runtime that is not there yet is waited for, and the pod runs once it comes',
    onMachine(async machine => {
      await containerd.stop()
      machine.write({ name: 'web', script: machine.service('web') })
      const agent = machine.agent()
      try {
        await eventually('it says why', () => agent.stderr().includes('static pods cannot run yet'))
        assert.equal(agent.child.exitCode, null)
      } finally {
        await containerd.start()
      }
      await eventually('it runs', () => machine.lines('web').length === 1)
    }),
  )
  test(
    'T2 the control plane is a static pod, and the node that runs it joins it',
    onMachine(join.controlPlaneIsAPod),
  )
  test('T4 kill -9 and a restart of the agent leave the container alone', onMachine(join.survivesKill))
  test(
    'T10 a second agent on the same state runs nothing, says who does, and takes over when that one has gone',
    onMachine(join.oneAgentOnly),
  )
})
