import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Allowed, allowed } from './differences.ts'
import { readSession } from './exchange.ts'
import { replay, type Told } from './replay.ts'

const matches = ({ n, path, recorded }: Allowed, told: Told) =>
  (!n || n.includes(told.n)) &&
  path.test(told.path) &&
  (!recorded || recorded.test(JSON.stringify(told.recorded) ?? ''))

const notAllowed = (told: readonly Told[], rules: readonly Allowed[]) =>
  told.filter(one => !rules.some(rule => matches(rule, one)))

test('a kubelet and kubectl 1.36 get the answers that a real API server gave them, but for the reviewed differences', async () => {
  const session = readSession('kubelet-and-kubectl-1.36.jsonl')
  assert.ok(session.length > 100)
  const told = await replay(session)
  assert.deepEqual(notAllowed(told, allowed), [])
  const unseen = allowed.filter(rule => !told.some(one => matches(rule, one)))
  assert.deepEqual(
    unseen.map(({ because }) => because),
    [],
    'differences that there are no more',
  )
})

test('a controller manager 1.36 starts, and may do for requests what it could, with its own identities', async () => {
  const session = readSession('controller-manager-1.36.jsonl')
  assert.ok(session.length > 15)
  // Nothing but that answers are JSON.
  const rules = allowed.filter(({ n }) => !n)
  assert.deepEqual(notAllowed(await replay(session), rules), [])
})
