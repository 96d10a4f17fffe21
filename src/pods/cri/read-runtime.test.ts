import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ContainerRecord } from '../runtime.ts'
import type { CriContainer, PodSandbox } from './cri-types.ts'
import { leftovers, nothingRuns, usableSandbox } from './read-runtime.ts'

const sandbox = (id: string, uid: string, attempt: number, state = 0, revision = 'r'): PodSandbox => ({
  id,
  metadata: { name: 'web', namespace: 'default', uid, attempt },
  state,
  createdAt: 0,
  labels: { 'io.kubernetes.pod.uid': uid },
  annotations: { 'rollcall.dev/revision': revision },
})
const unstarted = (id: string, uid: string): CriContainer => ({
  id,
  podSandboxId: 's',
  imageRef: '',
  state: 0,
  labels: { 'io.kubernetes.pod.uid': uid },
  annotations: {},
})
const run = (state: ContainerRecord['state']) => ({ state }) as ContainerRecord
const ids = (of: { id: string }[]) => of.map(({ id }) => id)

test('what somebody who died in the middle left is found, and pods that are being started are left alone', () => {
  const contents = {
    ...nothingRuns,
    sandboxes: [
      sandbox('old', 'a', 0),
      sandbox('new', 'a', 1),
      sandbox('lost', 'b', 0, 1),
      sandbox('dead', 'c', 0, 1),
    ],
    unstarted: [unstarted('x', 'a'), unstarted('y', 'busy')],
    records: new Map([
      ['in-new', run('Running')],
      ['in-lost', run('Running')],
      ['in-dead', run('Exited')],
    ]),
    homes: new Map([
      ['in-new', 'new'],
      ['in-lost', 'lost'],
      ['in-dead', 'dead'],
    ]),
  }
  const found = leftovers(contents, new Set(['busy']))
  assert.deepEqual(ids(found.containers), ['x'])
  assert.deepEqual(ids(found.broken), ['lost'], 'its namespaces are gone and a container runs on in it')
  assert.deepEqual(ids(found.superseded), ['old'], 'a lone sandbox stays: it tells of the pod’s folders')
  const busy = leftovers(contents, new Set(['a', 'b', 'busy']))
  assert.deepEqual([busy.containers, busy.broken, busy.superseded], [[], [], []])
})

test('a sandbox is used again only while it is ready and of the same manifest', () => {
  const contents = {
    ...nothingRuns,
    sandboxes: [
      sandbox('1', 'a', 0),
      sandbox('2', 'a', 1),
      sandbox('3', 'a', 2, 1),
      sandbox('4', 'b', 0, 0, 'other'),
    ],
  }
  assert.equal(usableSandbox(contents, 'a', 'r')?.id, '2')
  assert.equal(usableSandbox(contents, 'b', 'r'), undefined)
  assert.equal(usableSandbox(contents, 'c', 'r'), undefined)
})
