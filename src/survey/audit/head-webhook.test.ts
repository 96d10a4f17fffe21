import assert from 'node:assert/strict'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'node:test'
import { generateSigner } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import type { Transport } from '../../kube/transport.ts'
import { connectUndici } from '../../kube/undici-transport.ts'
import { foreignPair, listenHttps } from '../../testing/https-server.ts'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { type HeadResult, startHeadWebhook } from './head-webhook.ts'
import { keptHeads, type SignedHead, signHead } from './signed-head.ts'

const signer = generateSigner('Ed25519', seededRandom(1))
const headOf = (seq: number) =>
  signHead({ chain: 'a'.repeat(16), seq, hash: String(seq % 10).repeat(64) }, '2026-03-01T12:00:00Z', signer)

/** A receiver that answers as told, and its side of a webhook. */
function send(answer: (head: SignedHead) => Promise<number> | number) {
  const clock = createManualClock(0)
  const log = recordingLog()
  const results: HeadResult[] = []
  const taken: SignedHead[] = []
  const transport: Transport = {
    async request({ body }) {
      const head: SignedHead = JSON.parse(Buffer.from(body ?? new Uint8Array()).toString())
      const status = await answer(head)
      if (status < 300) taken.push(head)
      return { status, headers: {}, body: new Uint8Array() }
    },
    closeConnections() {},
  }
  const webhook = startHeadWebhook({
    receiver: { url: 'https://keeper.example/heads', transport },
    clock,
    random: seededRandom(2),
    log,
    onResult: result => void results.push(result),
  })
  return { clock, log, results, taken, webhook, seqs: () => taken.map(({ seq }) => seq) }
}

test('heads reach a real receiver in order, with the token, over TLS that is verified by the pinned authority alone', async () => {
  const [pair, other] = await Promise.all([foreignPair('keeper'), foreignPair('other')])
  let file = ''
  const tokens = new Set<string | undefined>()
  const both = Promise.withResolvers<void>()
  const receive = (request: IncomingMessage, response: ServerResponse) => {
    tokens.add(request.headers.authorization)
    request.setEncoding('utf8').on('data', (chunk: string) => {
      file += chunk
    })
    request.on('end', () => {
      response.writeHead(204).end()
      if (keptHeads(file).heads.length === 2) both.resolve()
    })
  }
  const server = await listenHttps({ cert: pair.certificate, key: pair.key }, receive)
  const start = (certificateAuthority: string, onResult: (result: HeadResult) => void) => {
    const readBearerToken = async () => new Secret('abc')
    const transport = connectUndici({ server: server.url, certificateAuthority, readBearerToken })
    const receiver = { url: `${server.url}/heads?of=a`, transport }
    const clock = createManualClock(0)
    const webhook = startHeadWebhook({
      receiver,
      clock,
      random: seededRandom(1),
      log: recordingLog(),
      onResult,
    })
    return { webhook, transport, clock }
  }
  const failed = Promise.withResolvers<HeadResult>()
  const trusted = start(pair.certificate, () => {})
  const distrusting = start(other.certificate, failed.resolve)
  try {
    const [first, second] = [await headOf(1), await headOf(2)]
    trusted.webhook.push(first)
    trusted.webhook.push(second)
    await both.promise
    assert.deepEqual(keptHeads(file), { heads: [second, first], others: [] })
    distrusting.webhook.push(first)
    assert.equal(await failed.promise, 'failed')
    assert.deepEqual([keptHeads(file).heads.length, ...tokens], [2, 'Bearer abc'])
  } finally {
    await Promise.all([trusted.webhook.stop(), distrusting.webhook.stop()])
    trusted.transport.closeConnections()
    distrusting.transport.closeConnections()
    await server.stop()
  }
  assert.deepEqual([trusted.clock.pending(), distrusting.clock.pending()], [0, 0])
})

test('a receiver that fails is tried again, ever more seldom, and gets all heads in order; the log tells it once', async () => {
  let tries = 0
  const { clock, log, results, webhook, seqs } = send(() => (++tries <= 6 ? 503 : 201))
  for (const seq of [1, 2, 3]) webhook.push(await headOf(seq))
  await settle()
  assert.equal(tries, 1)
  await clock.advance(2_000)
  assert.equal(tries, 2)
  await clock.advance(600_000)
  assert.deepEqual([tries, seqs()], [9, [1, 2, 3]])
  assert.equal(results.filter(result => result === 'failed').length, 6)
  assert.deepEqual(
    log.lines.map(line => line.split(':')[0]),
    ['warn', 'info'],
  )
  await webhook.stop()
})

test('one that never answers holds an hour of heads at most, and a stop takes two seconds', async () => {
  const never = Promise.withResolvers<number>()
  const { clock, results, webhook } = send(() => never.promise)
  for (let seq = 1; seq <= 100; seq++) webhook.push(await headOf(seq))
  assert.equal(results.filter(result => result === 'dropped').length, 40)
  const stopped = webhook.stop()
  await clock.advance(2_000)
  never.resolve(500)
  await stopped
  assert.equal(clock.pending(), 0)
})

test('a head that is refused for good makes room for the next one; one whose token is not right yet is kept', async () => {
  let unauthorized = true
  const { clock, results, webhook, seqs } = send(({ seq }) => (unauthorized ? 401 : seq === 1 ? 422 : 200))
  for (const seq of [1, 2]) webhook.push(await headOf(seq))
  await clock.advance(3_600_000)
  assert.ok(results.length > 5 && !results.includes('dropped'))
  unauthorized = false
  await clock.advance(3_600_000)
  assert.deepEqual([seqs(), results.filter(result => result === 'dropped').length], [[2], 1])
  await webhook.stop()
})

test('what was signed last is sent when the process ends', async () => {
  const { webhook, seqs, clock } = send(() => 200)
  webhook.push(await headOf(7))
  await webhook.stop()
  assert.deepEqual([seqs(), clock.pending()], [[7], 0])
})
