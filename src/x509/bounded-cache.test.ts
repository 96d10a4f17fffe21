import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedCache } from './bounded-cache.ts'

test('a cache computes once and forgets the oldest first', () => {
  const cache = new BoundedCache<boolean>(2)
  const computed: string[] = []
  const ask = (key: string, value: boolean) =>
    cache.getOrCompute(key, () => {
      computed.push(key)
      return value
    })
  assert.deepEqual([ask('a', false), ask('a', true), ask('b', true)], [false, false, true])
  ask('c', true)
  ask('b', true)
  ask('a', false)
  assert.deepEqual(computed, ['a', 'b', 'c', 'a'])
})
