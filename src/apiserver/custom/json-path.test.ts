import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileJsonPath } from './json-path.ts'

const object = {
  metadata: { annotations: { 'rollcall.dev/x': 'y' } },
  status: {
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Known', status: 'False' },
    ],
    counts: [1, 2, 3],
  },
}
const find = (path: string) => compileJsonPath(path)(object)

test('the paths of printer columns lead to fields, items and filtered items', () => {
  assert.deepEqual(find('.metadata.annotations.rollcall\\.dev/x'), ['y'])
  assert.deepEqual(find(".metadata.annotations['rollcall.dev/x']"), ['y'])
  assert.deepEqual(find('.status.conditions[?(@.type=="Ready")].status'), ['True'])
  assert.deepEqual(find('.status.conditions[?(@.type!="Ready")].type'), ['Known'])
  assert.deepEqual(find('.status.counts[*]'), [1, 2, 3])
  assert.deepEqual(find('.status.counts[-1]'), [3])
  assert.deepEqual(find('.status.counts[7].x'), [])
  assert.deepEqual(find('.status.constructor'), [])
})

test('a path that is none is refused when it is compiled', () => {
  for (const path of ['.a[', 'a b..', '.a[?(@.b)]']) assert.throws(() => compileJsonPath(path), RangeError)
})
