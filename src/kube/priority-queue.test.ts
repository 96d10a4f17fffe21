import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { PriorityQueue } from './priority-queue.ts'

test('keys come out by rank, equal ones in the order in which they were put in', () => {
  const put = fc.record({ rank: fc.integer({ min: 0, max: 5 }) })
  fc.assert(
    fc.property(fc.array(fc.option(put, { nil: undefined })), steps => {
      const queue = new PriorityQueue()
      const model: { key: string; rank: number }[] = []
      steps.forEach((step, index) => {
        if (step) {
          queue.put(String(index), step.rank)
          model.push({ key: String(index), rank: step.rank })
          model.sort((a, b) => a.rank - b.rank)
        } else assert.equal(queue.take(), model.shift()?.key)
      })
      while (model.length > 0) assert.equal(queue.take(), model.shift()?.key)
      assert.equal(queue.take(), undefined)
    }),
  )
})
