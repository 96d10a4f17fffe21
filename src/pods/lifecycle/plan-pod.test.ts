import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withIdentity } from '../manifest/identity.ts'
import type { Container, PodSpec } from '../pod.ts'
import { podKey, revisionOf } from '../pod.ts'
import type { ContainerRecord } from '../runtime.ts'
import { planPod } from './plan-pod.ts'
import { crashesAfter, kubeletBackoff, restartDelay } from './restart-backoff.ts'

const container = (name: string): Container => ({ name, image: 'host', command: ['/bin/true'] })
const podWith = (spec: Partial<PodSpec> = {}) =>
  withIdentity(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web' },
      spec: { containers: [container('c')], ...spec },
    },
    { nodeName: 'a', path: '/m/web.yaml', seen: 0 },
  )
type Pod = ReturnType<typeof podWith>
const run = (pod: Pod, changes: Partial<ContainerRecord> = {}): ContainerRecord => {
  const made = {
    podKey: podKey(pod),
    podUid: pod.metadata.uid,
    revision: revisionOf(pod),
    container: 'c',
    init: false,
    attempt: 0,
    crashes: 0,
    state: 'Running' as const,
    startedAt: 0,
    ...changes,
  }
  return { id: `${made.container}/${made.attempt}/${made.revision}`, ...made }
}
const ended = (pod: Pod, exitCode: number, changes: Partial<ContainerRecord> = {}) =>
  run(pod, { state: 'Exited', exitCode, finishedAt: 1000, ...changes })

function plan(
  pod: Pod | undefined,
  records: ContainerRecord[],
  { unhealthy = [] as string[], since = 1e9 } = {},
) {
  const made = planPod({
    pod,
    records,
    unhealthy: new Set(unhealthy),
    backoff: kubeletBackoff,
    since: () => since,
  })
  return {
    start: made.start.map(({ container, attempt }) => `${container.name}/${attempt}`),
    stop: made.stop.map(({ container, attempt }) => `${container}/${attempt}`),
    remove: made.remove.map(({ container, attempt }) => `${container}/${attempt}`),
    waiting: [...made.waiting],
    done: made.done,
  }
}
const nothing = { start: [], stop: [], remove: [], waiting: [], done: false }

test('the first restart comes at once, then 10 s doubling to 300 s, forgotten after a run of 600 s', () => {
  let crashes = 0
  const delays = Array.from({ length: 8 }, () => {
    crashes = crashesAfter(crashes, 1000, kubeletBackoff)
    return restartDelay(crashes, kubeletBackoff) / 1000
  })
  assert.deepEqual(delays, [0, 10, 20, 40, 80, 160, 300, 300])
  assert.equal(crashesAfter(crashes, 600_000, kubeletBackoff), 9)
  assert.equal(restartDelay(crashesAfter(crashes, 600_001, kubeletBackoff), kubeletBackoff), 0)
})

test('containers start side by side, init containers before them one after the other', () => {
  const pod = podWith({
    containers: [container('c'), container('d')],
    initContainers: [container('i'), container('j')],
  })
  const init = (name: string, code: number) => ended(pod, code, { container: name, init: true })
  assert.deepEqual(plan(pod, []).start, ['i/0'])
  assert.deepEqual(plan(pod, [run(pod, { container: 'i', init: true })]), nothing)
  assert.deepEqual(plan(pod, [init('i', 1)]).start, ['i/1'])
  assert.deepEqual(plan(pod, [init('i', 0)]).start, ['j/0'])
  assert.deepEqual(plan(pod, [init('i', 0), init('j', 0)]).start, ['c/0', 'd/0'])
  assert.deepEqual(plan(pod, [run(pod)]).start, ['d/0'], 'a container that ran shows that they had succeeded')
})

test('the restart policy decides what follows an end', () => {
  const starts = (restartPolicy: 'Always' | 'OnFailure' | 'Never', code: number) => {
    const pod = podWith({ restartPolicy })
    return plan(pod, [ended(pod, code)]).start
  }
  assert.deepEqual([starts('Always', 0), starts('Always', 3)], [['c/1'], ['c/1']])
  assert.deepEqual([starts('OnFailure', 0), starts('OnFailure', 3)], [[], ['c/1']])
  assert.deepEqual([starts('Never', 0), starts('Never', 3)], [[], []])
})

test('a restart waits out its back-off and keeps one dead run', () => {
  const pod = podWith()
  const records = [
    ended(pod, 1),
    ended(pod, 1, { attempt: 1, crashes: 1 }),
    ended(pod, 1, { attempt: 2, crashes: 2 }),
  ]
  assert.deepEqual(plan(pod, records, { since: 5000 }), {
    ...nothing,
    remove: ['c/0'],
    waiting: [['c', 15_000]],
  })
  assert.deepEqual(plan(pod, records, { since: 20_000 }).start, ['c/3'])
})

test('an edit stops the old containers, and the new ones start when none is left', () => {
  const [old, pod] = [podWith(), podWith({ containers: [{ ...container('c'), args: ['new'] }] })]
  assert.deepEqual(plan(pod, [run(old)]), { ...nothing, stop: ['c/0'] })
  assert.deepEqual(plan(pod, [ended(old, 143)]), { ...nothing, remove: ['c/0'] })
  assert.deepEqual(plan(pod, []).start, ['c/0'])
})

test('a removed manifest stops everything and is done when nothing is left', () => {
  const pod = podWith()
  assert.deepEqual(plan(undefined, [run(pod), ended(pod, 0, { container: 'i' })]), {
    ...nothing,
    stop: ['c/0'],
    remove: ['i/0'],
  })
  assert.deepEqual(plan(undefined, []), { ...nothing, done: true })
})

test('a run whose liveness probe failed is stopped', () => {
  const pod = podWith()
  assert.deepEqual(plan(pod, [run(pod)], { unhealthy: [run(pod).id] }), { ...nothing, stop: ['c/0'] })
})
