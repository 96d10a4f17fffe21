import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { spdyChannels } from './spdy-channels.ts'
import { isEnd, isReply, spdyClient } from './testing/spdy-client.ts'

const nothing = new Uint8Array()
const wanted = { stdin: true, stdout: true, stderr: true, tty: false }
const v4 = 'v4.channel.k8s.io'

async function opened(types: readonly string[]) {
  const client = spdyClient()
  const clock = createManualClock(0)
  const channels = spdyChannels(client.server, nothing, v4, wanted, clock)
  for (const [index, streamtype] of types.entries()) await client.open(2 * index + 1, { streamtype })
  return { client, clock, channels }
}

test('a command has its channels when all streams that were asked for are there, in any order', async () => {
  const { client, clock, channels } = await opened(['stderr', 'error', 'stdin', 'stdout'])
  const there = await channels
  assert.ok(there?.stdin && there.stdout && there.stderr && !there.sizes)
  client.data(5, 'in', true)
  for await (const chunk of there.stdin) await there.stdout(chunk)
  const finished = there.finish({ exitCode: 0 })
  await client.until(isEnd(3))
  assert.deepEqual([client.text(7), client.text(3)], ['in', '{"metadata":{},"status":"Success"}'])
  client.end()
  await finished
  assert.equal(clock.pending(), 0)
})

test('a client that is told everything and does not leave is cut off after a minute', async () => {
  const { client, clock, channels } = await opened(['error', 'stdin', 'stdout', 'stderr'])
  const there = await channels
  const finished = there?.finish({ error: 'it could not be started' })
  await client.until(isEnd(1))
  assert.equal(JSON.parse(client.text(1)).message, 'Internal error occurred: it could not be started')
  for (let turn = 0; turn < 20; turn++) await settle()
  assert.equal(client.server.destroyed, false)
  await clock.advance(60_000)
  await finished
  assert.ok(client.server.destroyed)
})

test('attack: a client that opens some streams, foreign ones and one twice is cut off after 30 seconds', async () => {
  const { client, clock, channels } = await opened(['error', 'stdout', 'stdout', 'nonsense', ''])
  await client.until(isReply(9))
  await client.until(isEnd(9))
  await clock.advance(29_999)
  assert.equal(client.server.destroyed, false)
  await clock.advance(1)
  assert.equal(await channels, undefined)
  assert.ok(client.server.destroyed)
  assert.equal(clock.pending(), 0)
})

test('a client that leaves before all streams are there leaves nothing behind', async () => {
  const { client, clock, channels } = await opened(['error'])
  client.end()
  assert.equal(await channels, undefined)
  assert.equal(clock.pending(), 0)
})
