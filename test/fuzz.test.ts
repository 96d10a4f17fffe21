import assert from 'node:assert/strict'
import { it } from 'node:test'
import { rawRun } from './fuzz/raw-run.ts'
import { HEAP_GROWTH, watchedRun } from './fuzz/watched-run.ts'

it('answers whatever is sent to it: no crash, no hang, no unintended 5xx, no growth', async () => {
  const { findings, statuses, heap } = await watchedRun({ seed: 1, seconds: 6, cases: 5000 })
  assert.deepEqual(findings, [])
  assert.ok(heap.late - heap.early < HEAP_GROWTH, `${heap.early} -> ${heap.late} MB`)
  // A grammar that only makes nonsense finds nothing: some of it is to get through, some to be refused at each stage.
  for (const status of [200, 201, 400, 401, 403, 404, 405, 406, 409, 415, 422])
    assert.ok(statuses[status], `no ${status} among ${JSON.stringify(statuses)}`)
})

it('bears whatever bytes come on a connection, and goes on serving the others', async () => {
  const { messages, findings } = await rawRun(1, index => index < 200)
  assert.deepEqual(findings, [])
  assert.equal(messages, 200)
})
