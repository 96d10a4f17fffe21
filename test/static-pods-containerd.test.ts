import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Containerd, noContainerd, startContainerd } from './support/containerd.ts'
import { eventually } from './support/eventually.ts'
import * as acceptance from './support/pod-acceptance.ts'
import { inContainerd, type Machine, onMachine as on, stateOf } from './support/static-pods.ts'

// Acceptance tests of static pods in containers of a real containerd, with no API at all (static-pods.md 8).

describe('static pods in containerd', { skip: noContainerd }, () => {
  let containerd: Containerd
  before(async () => {
    containerd = await startContainerd()
  })
  after(() => containerd.close())

  const onMachine = (name: string, run: (machine: Machine) => Promise<void>) =>
    test(
      name,
      on(run, () => inContainerd(containerd)),
    )

  onMachine(
    'T3 a pod starts, an edit replaces it and a removal ends it, with no API anywhere',
    async machine => {
      await acceptance.followsItsManifest(machine)
      assert.deepEqual(await containerd.podsOf(machine.stateDirectory), [])
    },
  )
  onMachine('T3 a pod whose manifest sets its uid is replaced by an edit too', acceptance.editOfAPodWithUid)
  onMachine(
    'T4 the pod outlives its agent; the next one finds the same container and hears how it ends',
    acceptance.outlivesItsAgent,
  )
  onMachine(
    'T4 what ended while no agent was there is known by its exit code; Never stays ended',
    acceptance.endsWithoutAgent,
  )
  onMachine(
    'T5 a restart of containerd is survived: nothing is restarted, and edits are taken up after it',
    async machine => {
      machine.write({ name: 'web', script: machine.service('web') })
      const { pods, runtime } = machine.startAgent()
      await eventually(
        'it runs',
        () => machine.lines('web').length === 1 && runtime.containers().length === 1,
      )
      const [before] = runtime.containers()
      await containerd.stop()
      machine.write({ name: 'late', script: machine.service('late') })
      try {
        await eventually('it is seen', () => pods.runtimeProblem?.includes('does not answer'))
        assert.deepEqual(runtime.containers(), [before], 'what runs counts as running')
        await eventually('the new pod says what it waits for', () =>
          JSON.stringify(stateOf(pods, 'late'))?.includes('RuntimeUnavailable'),
        )
      } finally {
        await containerd.start()
      }
      await eventually('the new pod runs', () => machine.lines('late').length === 1)
      assert.equal(pods.runtimeProblem, undefined)
      assert.deepEqual(
        runtime.containers().find(({ podKey }) => podKey === 'default/web-node-a'),
        before,
      )
      assert.equal(machine.lines('web').length, 1)
    },
  )
  onMachine(
    'T6 a container that crashes starts again at once, then waits; a new agent does not restart the crash loop',
    acceptance.crashLoops,
  )
  onMachine('T6 dead runs and their logs do not pile up', acceptance.deadRunsGo)
  onMachine(
    'T7 a container whose liveness probe fails is stopped and started again; readiness follows its probe',
    acceptance.followsItsProbes,
  )
  onMachine('T8 bad, odd and duplicate manifests are reported and disturb nobody', acceptance.badManifests)
  onMachine('a container that ignores TERM is killed after its grace period', acceptance.killedAfterGrace)
  onMachine(
    'an agent that ends does not wait for a container that is being stopped; the next one goes on',
    acceptance.stopsAcrossAgents,
  )
  onMachine(
    'a directory of manifests that comes late, or another one in its place, is followed',
    acceptance.followsTheDirectory,
  )
  onMachine('a program that is not there is ContainerCannotRun', acceptance.programMissing)
  onMachine(
    'init containers run before the containers, and a pod waits for the socket that another one makes',
    acceptance.waitsForItsSocket,
  )
})
