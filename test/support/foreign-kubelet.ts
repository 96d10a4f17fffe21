import assert from 'node:assert/strict'
import { labels } from '../../src/pods/cri/labels.ts'
import type { Containerd } from './containerd.ts'
import { eventually } from './eventually.ts'
import { type Machine, stateOf } from './static-pods.ts'

/** T10: a kubelet on the same runtime is named; its pods are left alone and none is started beside it. */
export async function besideAKubelet(machine: Machine, containerd: Containerd): Promise<void> {
  machine.write({ name: 'web', script: machine.service('web') })
  const { pods, runtime } = machine.startAgent()
  await eventually('it runs', () => machine.lines('web').length === 1)
  // As a kubelet makes them: its labels, not ours.
  const of = {
    [labels.podName]: 'kube-proxy',
    [labels.podNamespace]: 'kube-system',
    [labels.podUid]: 'theirs',
  }
  const rival = await containerd.cri.runPodSandbox({
    metadata: { name: 'kube-proxy', namespace: 'kube-system', uid: 'theirs', attempt: 0 },
    logDirectory: machine.in('theirs'),
    labels: of,
    annotations: {},
    linux: {
      cgroupParent: '',
      securityContext: {
        namespaceOptions: { network: 2, pid: 1, ipc: 0 },
        supplementalGroups: [],
        privileged: false,
        seccomp: { profileType: 0 },
      },
    },
  })
  try {
    await eventually('it is named', () => pods.runtimeProblem?.includes('kube-system/kube-proxy'))
    machine.write({ name: 'late', script: machine.service('late') })
    await eventually('the new pod says why it waits', () =>
      JSON.stringify(stateOf(pods, 'late') ?? {}).includes('A kubelet uses the same runtime'),
    )
    assert.deepEqual(machine.lines('late'), [])
    assert.deepEqual(
      runtime.containers().map(({ state }) => state),
      ['Running'],
      'what runs goes on',
    )
    machine.remove('web.json')
    await eventually('removals work', () => runtime.containers().length === 0)
    assert.equal(machine.lines('web').at(-1), 'stopped')
    const all = await containerd.cri.listPodSandbox()
    assert.deepEqual(
      all.map(({ id, state }) => (id === rival ? state : 0)),
      all.map(() => 0),
    )
    assert.ok(all.some(({ id }) => id === rival))
  } finally {
    await containerd.cri.stopPodSandbox(rival)
    await containerd.cri.removePodSandbox(rival)
  }
  await eventually('the pod starts when the kubelet has gone', () => machine.lines('late').length === 1)
  assert.equal(pods.runtimeProblem, undefined)
}
