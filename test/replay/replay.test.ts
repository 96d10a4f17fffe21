import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Allowed, allowed } from './differences.ts'
import { readSession } from './exchange.ts'
import { replay, type Told } from './replay.ts'

const matches = ({ n, path, recorded }: Allowed, told: Told) =>
  (!n || n.includes(told.n)) &&
  path.test(told.path) &&
  (!recorded || recorded.test(JSON.stringify(told.recorded) ?? ''))

test('a kubelet and kubectl 1.36 get the answers that a real API server gave them, but for the reviewed differences', async () => {
  const session = readSession('kubelet-and-kubectl-1.36.jsonl')
  assert.ok(session.length > 100)
  const told = await replay(session)
  assert.deepEqual(
    told.filter(one => !allowed.some(rule => matches(rule, one))),
    [],
  )
  const unseen = allowed.filter(rule => !told.some(one => matches(rule, one)))
  assert.deepEqual(
    unseen.map(({ because }) => because),
    [],
    'differences that there are no more',
  )
})
