import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as join from './support/pod-join.ts'
import { runRollcall } from './support/rollcall-process.ts'
import { processes } from './support/static-pods.ts'
import { thingsAbsent, whyNothingCanBeAbsent } from './support/things-absent.ts'

// The real agent with static pods of the runtime "process"; test/static-pods-containerd-join.test.ts has them in containers.

const plain: join.JoinRuntime = {
  ...processes,
  flags: ['--runtime', 'process', '--static-pods-as-root'],
  manifest: 'pod.yaml',
  version: /^rollcall:/,
}
const onMachine = (run: (machine: join.JoinMachine) => Promise<void>) => join.onJoinMachine(() => plain, run)

test(
  'T1 a static pod serves the credential; it is up and asked while the API is down, and then the node joins',
  onMachine(join.credentialFromAPod),
)
test(
  'K-5: report 1, report 2: everything absent at once (T1): the pod runs, the agent stays, and says what it lacks',
  onMachine(join.everythingAbsent),
)
test(
  'K-5: API, bootstrap file, kubeconfig, HSM and a right clock absent, alone and together: the pod runs, the agent stays, and joins when the thing appears',
  { skip: whyNothingCanBeAbsent },
  () => thingsAbsent(() => plain),
)
test(
  'report 4: the control plane is a static pod (T2), and the node that runs it joins it',
  onMachine(join.controlPlaneIsAPod),
)
test('T4 kill -9 and a restart of the agent leave the container alone', onMachine(join.survivesKill))
test(
  'T10 a second agent on the same state runs nothing, says who does, and takes over when that one has gone',
  onMachine(join.oneAgentOnly),
)

test('--static-pods without --runtime, and a runtime without a socket, are refused with the reason', async () => {
  const plain = await runRollcall(['agent', '--static-pods', '/nowhere'])
  assert.deepEqual([plain.code, plain.stdout], [2, ''])
  assert.match(plain.stderr, /--static-pods: say how they are to be run: --runtime cri/)
  const tcp = ['--container-runtime-endpoint', 'tcp://127.0.0.1:1']
  const cri = await runRollcall(['agent', '--static-pods', '/nowhere', '--runtime', 'cri', ...tcp])
  assert.equal(cri.code, 2)
  assert.match(cri.stderr, /Give unix:\/\/\/path/)
})
