import assert from 'node:assert/strict'
import { test } from 'node:test'
import { podKey, revisionOf, type StaticPod } from '../pod.ts'
import { type DesiredPods, desiredPods, type FileReading, nothingDesired } from './desired-pods.ts'

const at = (path: string, text: string): FileReading => ({ path: `/m/${path}`, text })
const manifest = (name: string, extra = '', command = '/bin/true') => `apiVersion: v1
kind: Pod
metadata: {name: ${name}${extra}}
spec: {hostNetwork: true, containers: [{name: c, image: host, command: [${command}]}]}
`
const look = (readings: FileReading[], before: DesiredPods = nothingDesired, now = 0) =>
  desiredPods(before, readings, { nodeName: 'Node-A', now })
const keys = ({ pods }: DesiredPods) => pods.map(podKey)
const commandOf = (pod: StaticPod | undefined) => pod?.spec.containers[0]?.command?.[0]
const problems = ({ findings }: DesiredPods) => findings.map(({ path, reason }) => `${path} ${reason}`)

test('a pod gets the identity that a kubelet gives it', () => {
  const [pod] = look(
    [at('web.yaml', manifest('web', ', labels: {app: web}'))],
    nothingDesired,
    86_400_000,
  ).pods
  assert.ok(pod)
  assert.equal(podKey(pod), 'default/web-node-a')
  assert.equal(pod.spec.nodeName, 'Node-A')
  assert.match(pod.metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.deepEqual(pod.metadata.annotations, {
    'kubernetes.io/config.hash': pod.metadata.uid,
    'kubernetes.io/config.source': 'file',
    'kubernetes.io/config.seen': '1970-01-02T00:00:00.000Z',
    'rollcall.dev/manifest': '/m/web.yaml',
  })
  assert.deepEqual(pod.spec.tolerations, [{ operator: 'Exists', effect: 'NoExecute' }])
})

test('the uid follows from contents, path and node: comments and key order do not change it, an edit does', () => {
  const uid = (text: string, path = 'web.yaml') => look([at(path, text)]).pods[0]?.metadata.uid
  assert.equal(uid(manifest('web')), uid(`# hello\n${manifest('web')}`))
  const reordered = JSON.stringify({
    spec: { containers: [{ image: 'host', name: 'c', command: ['/bin/true'] }], hostNetwork: true },
    metadata: { name: 'web' },
    kind: 'Pod',
    apiVersion: 'v1',
  })
  assert.equal(uid(manifest('web')), uid(reordered))
  assert.notEqual(uid(manifest('web')), uid(manifest('web', '', '/bin/false')))
  assert.notEqual(uid(manifest('web')), uid(manifest('web'), 'other.yaml'))
})

test('a uid that the manifest sets stays, and an edit still changes the revision', () => {
  const [before, after] = ['/bin/true', '/bin/false'].map(
    command => look([at('web.yaml', manifest('web', ', uid: my-uid', command))]).pods[0],
  )
  assert.ok(before && after)
  assert.deepEqual([before.metadata.uid, after.metadata.uid], ['my-uid', 'my-uid'])
  assert.notEqual(revisionOf(before), revisionOf(after))
})

test('unchanged contents keep the moment at which they were first seen', () => {
  const first = look([at('web.yaml', manifest('web'))], nothingDesired, 1000)
  const second = look([at('web.yaml', manifest('web'))], first, 2000)
  assert.deepEqual(second.pods, first.pods)
})

test('a file that has become unusable keeps its pods; one that is gone does not', () => {
  const first = look([at('web.yaml', manifest('web'))])
  for (const broken of [
    at('web.yaml', 'apiVersion: ['),
    at('web.yaml', manifest('web').replace('image: host', 'image: 5')),
    {
      path: '/m/web.yaml',
      problem: { severity: 'error' as const, reason: 'Unreadable' as const, message: 'EACCES' },
    },
  ]) {
    const second = look([broken], first)
    assert.deepEqual(second.pods, first.pods)
    assert.equal(second.findings.length, 1)
    assert.deepEqual(look([at('web.yaml', manifest('web', '', '/bin/false'))], second).pods.map(commandOf), [
      '/bin/false',
    ])
  }
  assert.deepEqual(look([], first).pods, [])
})

test('of two pods with one name the one that was there stays, else the first by file name', () => {
  const both = look([at('b.yaml', manifest('web', '', 'b')), at('a.yaml', manifest('web', '', 'a'))])
  assert.deepEqual([both.pods.map(commandOf), problems(both)], [['a'], ['/m/b.yaml Duplicate']])

  const first = look([at('b.yaml', manifest('web', '', 'b'))])
  const second = look([at('a.yaml', manifest('web', '', 'a')), at('b.yaml', manifest('web', '', 'b'))], first)
  assert.deepEqual([second.pods.map(commandOf), problems(second)], [['b'], ['/m/a.yaml Duplicate']])
  assert.deepEqual(look([at('a.yaml', manifest('web', '', 'a'))], second).pods.map(commandOf), ['a'])
})

test('critical pods start first, then by start order, then by file name', () => {
  const order = (n: number) => `, annotations: {rollcall.dev/start-order: "${n}"}`
  const critical = manifest('last').replace(
    'hostNetwork',
    'priorityClassName: system-node-critical, hostNetwork',
  )
  const desired = look([
    at('a.yaml', manifest('third')),
    at('b.yaml', manifest('second', order(-1))),
    at('z.yaml', critical),
    at('c.yaml', manifest('fourth')),
  ])
  assert.deepEqual(
    keys(desired).map(key => key.slice('default/'.length, -'-node-a'.length)),
    ['last', 'second', 'third', 'fourth'],
  )
})
