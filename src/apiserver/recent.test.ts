import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Recent } from './recent.ts'

it('forgets the oldest, in order, once it is full', () => {
  const forgotten: number[] = []
  const recent = new Recent<number>(3, item => forgotten.push(item))
  for (let i = 0; i < 8; i++) recent.add(i)
  assert.deepEqual(forgotten, [0, 1, 2, 3, 4])
})
