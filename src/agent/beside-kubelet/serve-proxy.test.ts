import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Secret } from '../../keys/secret.ts'
import type { ConnectionConfig } from '../../kube/transport.ts'
import { foreignPair } from '../../testing/https-server.ts'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { serveProxy } from './serve-proxy.ts'

/** A proxy that lets everything in, before an API in plain HTTP. */
async function proxied(t: TestContext, api: ReturnType<typeof createServer>) {
  const own = await foreignPair('proxy')
  await new Promise<void>(resolve => api.listen(0, '127.0.0.1', resolve))
  const config: ConnectionConfig = { server: `http://127.0.0.1:${(api.address() as AddressInfo).port}` }
  const clock = createManualClock(0)
  const proxy = await serveProxy({
    clock,
    port: 0,
    pair: { chain: own.certificate, key: new Secret(own.key) },
    refuse: () => undefined,
    upstream: async () => config,
  })
  t.after(async () => {
    await proxy.close()
    api.closeAllConnections()
    api.close()
    for (let turn = 0; turn < 20; turn++) await settle()
    assert.equal(clock.pending(), 0)
  })
  return (path: string, method = 'GET', headers: Record<string, string> = {}) =>
    request({ host: '127.0.0.1', port: proxy.port, ca: own.certificate, path, method, headers, agent: false })
}

const answerTo = (sent: ReturnType<typeof request>) =>
  new Promise<IncomingMessage>((resolve, reject) => sent.once('response', resolve).once('error', reject))

async function whole(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

test('the headers of a watch come at once, and each event as it comes', async t => {
  let go: () => void = () => {}
  const ask = await proxied(
    t,
    createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders()
      go = () => response.write('event')
    }),
  )
  const answer = await answerTo(ask('/api/v1/pods?watch=true').end())
  assert.equal(answer.statusCode, 200)
  go()
  for await (const chunk of answer) {
    assert.equal(String(chunk), 'event')
    break
  }
})

test('bodies go both ways, whole, chunked or long, and answers keep their status', async t => {
  const ask = await proxied(
    t,
    createServer(async (request, response) => response.writeHead(409).end(await whole(request))),
  )
  const long = 'x'.repeat(3_000_000)
  for (const [headers, body] of [
    [{ 'content-length': '5' }, 'whole'],
    [{ 'transfer-encoding': 'chunked' }, long],
  ] as const) {
    const answer = await answerTo(ask('/x', 'POST', headers).end(body))
    assert.equal(answer.statusCode, 409)
    assert.equal(await whole(answer), body)
  }
})

test('an upgrade becomes a connection to the API, and its end is the other’s', async t => {
  const api = createServer()
  api.on('upgrade', (request, socket, head) => {
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${request.headers.upgrade}\r\n\r\n`,
    )
    socket.write(head)
    socket.on('data', chunk => socket.end(`<${chunk}>`))
  })
  const ask = await proxied(t, api)
  const sent = ask('/exec', 'GET', { connection: 'Upgrade', upgrade: 'websocket', cookie: 'a=b' }).end()
  const socket = await new Promise<Socket>((resolve, reject) =>
    sent.once('upgrade', (_, socket) => resolve(socket)).once('error', reject),
  )
  socket.write('ping')
  assert.equal(await whole(socket), '<ping>')
})

test('an API that is not there is 503 with Retry-After, as a client of Kubernetes understands it', async t => {
  const api = createServer()
  const ask = await proxied(t, api)
  await new Promise(resolve => api.close(resolve))
  const answer = await answerTo(ask('/x').end())
  assert.deepEqual([answer.statusCode, answer.headers['retry-after']], [503, '1'])
  assert.equal(JSON.parse(await whole(answer)).reason, 'ServiceUnavailable')
})

test('attack: a client that leaves takes its request to the API with it', async t => {
  const left = Promise.withResolvers<void>()
  const arrived = Promise.withResolvers<void>()
  const ask = await proxied(
    t,
    createServer(request => {
      request.once('close', () => left.resolve())
      arrived.resolve()
    }),
  )
  const sent = ask('/slow').end()
  sent.on('error', () => {})
  await arrived.promise
  sent.destroy()
  await left.promise
})
