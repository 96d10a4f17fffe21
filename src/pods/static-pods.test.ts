import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podStatus } from './status/pod-status.ts'
import { onSimulatedNode, type SimulatedNode } from './testing/simulated-node.ts'

const statusOf = ({ pods }: SimulatedNode) => {
  const [view] = pods.views()
  assert.ok(view)
  return podStatus(view, '10.0.0.1')
}
const times = ({ runtime }: SimulatedNode, what: string) =>
  runtime.events.filter(line => line.includes(` ${what} `)).map(line => Number(line.split(' ')[0]))

test(
  'pods follow their manifests: added, edited, removed',
  onSimulatedNode(async node => {
    node.pods.start()
    await node.write('web')
    await node.pass(1.5)
    await node.write('web', { terminationGracePeriodSeconds: 5 })
    await node.pass(1.5)
    await node.remove('web')
    await node.pass(1.5)
    const what = node.runtime.events.map(line => line.split(' ').slice(1).join(' '))
    assert.deepEqual(what, [
      'start web-node-a/c/0',
      'stop web-node-a/c/0',
      'start web-node-a/c/0',
      'stop web-node-a/c/0',
    ])
    assert.deepEqual([node.runtime.containers(), node.runtime.pods(), node.pods.views()], [[], [], []])
  }),
)

test(
  'a crashing container starts at 0 s, at once, and then 10, 20, 40, 80, 160, 300, 300 s later',
  onSimulatedNode(async node => {
    await node.write('web')
    node.pods.start()
    const crash = () => {
      const running = node.runtime.containers().some(({ state }) => state === 'Running')
      if (running) node.runtime.end('c', 1)
      return running
    }
    for (let seconds = 0; seconds < 1000; seconds++) {
      crash()
      await node.pass(1)
    }
    const starts = times(node, 'start')
    const gaps = starts.slice(1).map((time, n) => Math.round(time - (starts[n] ?? 0)))
    // Each run lasts up to a second here, and the first one is ended at once.
    assert.deepEqual(gaps.map(gap => Math.round(gap / 10) * 10).slice(1, 8), [10, 20, 40, 80, 160, 300, 300])
    assert.ok((gaps[0] ?? 9) <= 1)
    assert.equal(statusOf(node).containerStatuses[0]?.restartCount, starts.length - 1)
  }),
)

test(
  'a wall clock that jumps neither speeds up nor stops a crash loop',
  onSimulatedNode(async node => {
    await node.write('web')
    node.pods.start()
    for (let n = 0; n < 2; n++) {
      await node.pass(1)
      node.runtime.end('c', 1)
    }
    await node.pass(1)
    assert.equal(statusOf(node).containerStatuses[0]?.state.waiting instanceof Object, true)
    for (const jump of [-1, 1]) {
      node.clock.step(jump * 86_400_000)
      await node.pass(1)
      assert.equal(times(node, 'start').length, 2)
    }
    await node.pass(9)
    assert.equal(times(node, 'start').length, 3)
  }),
)

test(
  'a runtime that is not there is waited for, and what it lacks is shown',
  onSimulatedNode(async node => {
    node.runtime.unavailable = Array.from({ length: 8 }, () => 'no socket')
    await node.write('web')
    node.pods.start()
    await node.pass(0.5)
    assert.deepEqual(
      [statusOf(node).phase, statusOf(node).reason, statusOf(node).message],
      ['Pending', 'RuntimeUnavailable', 'no socket'],
    )
    assert.match(node.pods.whyNotReady('default/web') ?? '', /no socket/)
    await node.pass(10)
    assert.equal(statusOf(node).phase, 'Running')
    assert.equal(node.pods.whyNotReady('default/web'), undefined)
    assert.equal(node.log.lines.filter(line => line.includes('cannot run yet')).length, 1, 'said once')
  }),
)

test(
  'what the runtime cannot do is said and not tried again until the manifest changes',
  onSimulatedNode(async node => {
    await node.write('web', { hostNetwork: false })
    node.pods.start()
    await node.pass(300)
    assert.deepEqual(
      [statusOf(node).reason, statusOf(node).message],
      ['Unsupported', 'spec.hostNetwork: must be true'],
    )
    assert.deepEqual(node.runtime.events, [])
    await node.write('web')
    await node.pass(2)
    assert.equal(statusOf(node).phase, 'Running')
  }),
)

test(
  'a pod waits for its hostPath, and others do not wait for it',
  onSimulatedNode(async node => {
    const volumes = [{ name: 'v', hostPath: { path: '/run/hsm', type: 'Directory' } }]
    await node.write('a', { volumes })
    await node.write('b')
    node.pods.start()
    await node.pass(5)
    assert.deepEqual(
      node.runtime.events.map(line => line.split(' ')[2]),
      ['b-node-a/c/0'],
    )
    assert.match(
      statusOf(node).message ?? '',
      /Volume v: hostPath \/run\/hsm is not there, and its type is Directory/,
    )
    await node.disk.makeDirectory('/run/hsm', 0o755)
    await node.pass(10)
    assert.equal(node.runtime.events.length, 2)
  }),
)

test(
  'a directory of manifests may come later; only *.yaml, *.yml and *.json count, dot files never',
  onSimulatedNode(async node => {
    node.pods.start()
    await node.pass(1)
    for (const file of ['.hidden.yaml', 'web.yaml~', 'readme.md'])
      await node.disk.write(`/etc/rollcall/static-pods/${file}`, '{', { mode: 0o644 })
    await node.pass(2)
    assert.deepEqual(
      node.pods.findings().map(({ path, reason }) => [path.split('/').at(-1), reason]),
      [
        ['readme.md', 'IgnoredFile'],
        ['web.yaml~', 'IgnoredFile'],
      ],
    )
  }),
)

test(
  'they have begun when each pod was started, or cannot be: one of those that nobody starts holds up nothing',
  onSimulatedNode(async node => {
    await node.write('web')
    await node.write('last')
    await node.write('impossible', { volumes: [{ name: 'v', hostPath: { path: '/gone', type: 'File' } }] })
    node.pods.start()
    await node.pods.begun
    assert.equal(node.runtime.containers().length, 2)
  }),
)

test(
  'pods that end with their agent are ended once, a crash loop is over, and nothing starts again',
  onSimulatedNode(async node => {
    await node.write('web')
    await node.write('job')
    node.pods.start()
    await node.pass(2)
    const ended = node.pods.end()
    await node.pass(1)
    await ended
    await node.write('late')
    await node.pass(30)
    const what = node.runtime.events.map(line => line.split(' ').slice(1).join(' ')).toSorted()
    assert.deepEqual(what, [
      'start job-node-a/c/0',
      'start web-node-a/c/0',
      'stop job-node-a/c/0',
      'stop web-node-a/c/0',
    ])
  }),
)
