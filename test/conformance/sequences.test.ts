import assert from 'node:assert/strict'
import { test } from 'node:test'
import { embeddedWire } from './embedded-wire.ts'
import { startRollcallServer } from './rollcall-server.ts'
import { runSequences } from './sequences/run.ts'
import { wireTo } from './wire.ts'

test('two instances of the API answer hundreds of random sequences alike, and keep to what any Kubernetes API must', async () => {
  const [left, right] = [await embeddedWire(), await embeddedWire()]
  const sides = [
    { name: 'one', wire: left },
    { name: 'other', wire: right },
  ] as const
  const { findings, statuses } = await runSequences(sides, {
    seed: 1,
    more: index => index < 300,
    reviewed: [],
  })
  left.close()
  right.close()
  assert.deepEqual(findings, [])
  // A grammar that only makes nonsense finds nothing, nor does one that is never refused.
  for (const status of [200, 201, 400, 401, 403, 404, 405, 406, 409, 415, 422])
    assert.ok(statuses[status], `no ${status} among ${JSON.stringify(statuses)}`)
})

test('over TLS, HTTP and SQLite the answers are those of the API in memory', async () => {
  const server = await startRollcallServer()
  const [left, right] = [wireTo(server), await embeddedWire()]
  try {
    const sides = [
      { name: server.name, wire: left },
      { name: 'in memory', wire: right },
    ] as const
    const { findings } = await runSequences(sides, { seed: 2, more: index => index < 20, reviewed: [] })
    assert.deepEqual(findings, [])
  } finally {
    left.close()
    right.close()
    await server.stop()
  }
})
