import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientHttp2Session, connect } from 'node:http2'
import { connect as tcp } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { connect as tls } from 'node:tls'
import { systemClock } from '../../host/clock.ts'
import { Secret } from '../../keys/secret.ts'
import type { ApiRequest, Peer } from '../../kube/transport.ts'
import { connectUndici } from '../../kube/undici-transport.ts'
import { silentLog } from '../../ports.ts'
import { type ForeignPair, foreignPair } from '../../testing/https-server.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import type { Api } from '../api.ts'
import { smallApi } from '../testing/small-api.ts'
import { type RunningServer, serve } from './server.ts'

const serverPair = await foreignPair('apiserver')
const clientPair = await foreignPair('client')

const tlsOf = (pair: ForeignPair) => ({
  certificate: pair.certificate,
  key: new Secret(pair.key),
  clientCertificateAuthorities: clientPair.certificate,
})

async function running(t: TestContext, api: Api, bodyBytes = 1000): Promise<RunningServer> {
  const server = await serve({
    api,
    port: 0,
    tls: tlsOf(serverPair),
    clock: systemClock,
    log: silentLog,
    bodyBytes,
  })
  t.after(() => server.close())
  return server
}

function client(t: TestContext, { port }: RunningServer, pair?: ForeignPair) {
  const transport = connectUndici({
    server: `https://127.0.0.1:${port}`,
    certificateAuthority: serverPair.certificate,
    ...(pair && { clientCertificate: { certificate: pair.certificate, key: new Secret(pair.key) } }),
  })
  t.after(() => transport.closeConnections())
  return transport
}

async function http2(t: TestContext, { port }: RunningServer): Promise<ClientHttp2Session> {
  const session = connect(`https://127.0.0.1:${port}`, { ca: serverPair.certificate })
  t.after(() => session.destroy())
  await once(session, 'connect')
  return session
}

/** An API that tells what reached it. */
function echo(seen: { request: ApiRequest; peer: Peer }[]): Api {
  return {
    async handle(request, peer) {
      seen.push({ request, peer })
      return {
        status: 200,
        headers: { 'content-type': 'text/plain' },
        body: new TextEncoder().encode('seen'),
      }
    },
    beginShutdown() {},
    async close() {},
  }
}

const get = (url: string): ApiRequest => ({ method: 'GET', url, headers: {} })

describe('the HTTPS server', () => {
  it('W-1: hands over the request and the certificate of the peer', async t => {
    const seen: { request: ApiRequest; peer: Peer }[] = []
    const server = await running(t, echo(seen))
    const body = new TextEncoder().encode('{}')
    const headers = { 'content-type': 'application/json' }
    await client(t, server, clientPair).request({ method: 'POST', url: '/x?y=z', headers, body })
    await client(t, server).request(get('/without'))
    const [first, second] = seen
    assert.deepEqual(
      [first?.request.method, first?.request.url, first?.request.headers['content-type']],
      ['POST', '/x?y=z', 'application/json'],
    )
    assert.equal(Buffer.from(first?.request.body ?? []).toString(), '{}')
    const der = Buffer.from(clientPair.certificate.replace(/-----[A-Z ]+-----|\n/g, ''), 'base64')
    assert.deepEqual([first?.peer.remoteAddress, first?.peer.certificates?.length], ['127.0.0.1', 1])
    assert.equal(Buffer.compare(first?.peer.certificates?.[0] ?? new Uint8Array(), der), 0)
    assert.equal(second?.peer.certificates, undefined)
  })

  it('W-4: sends the headers of a watch before anything happened, and ends it when the client leaves', async t => {
    const small = smallApi()
    const server = await running(t, small.api)
    const gone = new AbortController()
    const response = await client(t, server).request({
      ...get('/api/v1/nodes?watch=true&resourceVersion=1'),
      signal: gone.signal,
    })
    assert.equal(response.status, 200)
    assert.equal(small.clock.pending(), 1)
    await small.call('POST', '/api/v1/nodes', { metadata: { name: 'n' } })
    assert.ok(!(response.body instanceof Uint8Array))
    const stream = response.body[Symbol.asyncIterator]()
    const event = await stream.next()
    assert.equal(JSON.parse(Buffer.from(event.value).toString()).type, 'ADDED')
    gone.abort()
    assert.equal((await stream.next()).done, true)
    await new Promise<void>(resolve => {
      const look = () => (small.clock.pending() === 0 ? resolve() : setImmediate(look))
      look()
    })
  })

  it('W-1, W-4: does both over HTTP/2', async t => {
    const small = smallApi()
    const session = await http2(t, await running(t, small.api))
    const stream = session.request({ ':path': '/api/v1/nodes?watch=true&resourceVersion=1' })
    const [headers] = await once(stream, 'response')
    assert.equal(headers[':status'], 200)
    await small.call('POST', '/api/v1/nodes', { metadata: { name: 'n' } })
    const [chunk] = await once(stream, 'data')
    assert.equal(JSON.parse(chunk.toString()).object.metadata.name, 'n')
    stream.close()
    await new Promise<void>(resolve => {
      const look = () => (small.clock.pending() === 0 ? resolve() : setImmediate(look))
      look()
    })
  })

  it('answers 413 to a body that is too long, with and without its length said before', async t => {
    const server = await running(t, smallApi().api)
    const body = new Uint8Array(2000)
    const answer = await client(t, server).request({ ...get('/api/v1/nodes'), method: 'POST', body })
    assert.equal(answer.status, 413)
    const session = await http2(t, server)
    const stream = session.request({ ':path': '/api/v1/nodes', ':method': 'POST' })
    stream.end(body)
    const [headers] = await once(stream, 'response')
    assert.equal(headers[':status'], 413)
  })

  it('answers 429 to a body that there is no room for, and still takes small ones', async t => {
    const server = await serve({
      api: echo([]),
      port: 0,
      tls: tlsOf(serverPair),
      clock: systemClock,
      log: silentLog,
      bodyBudget: { total: 3000, connection: 3000, free: 1000 },
    })
    t.after(() => server.close())
    const session = await http2(t, server)
    const post = { ':path': '/', ':method': 'POST' }
    // Under way, and taking all the room there is.
    const slow = session.request(post)
    slow.write(new Uint8Array(4000))
    const transport = client(t, server)
    const send = async (bytes: number) =>
      (await transport.request({ ...get('/'), method: 'POST', body: new Uint8Array(bytes) })).status
    while ((await send(1500)) !== 429);
    assert.equal(await send(900), 200)
    slow.end()
    await once(slow, 'response')
    assert.equal(await send(1500), 200)
  })

  it('does not keep a large answer for a client that does not take it', async t => {
    const clock = createManualClock(0)
    const body = new Uint8Array(32 * 1024 * 1024)
    const api: Api = { ...echo([]), handle: async () => ({ status: 200, headers: {}, body }) }
    const server = await serve({ api, port: 0, tls: tlsOf(serverPair), clock, log: silentLog })
    t.after(() => server.close())
    const socket = tls({ port: server.port, host: '127.0.0.1', ca: serverPair.certificate })
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket, 'data')
    socket.pause()
    assert.equal(clock.pending(), 1)
    await clock.advance(60_000)
    let received = 0
    socket.on('data', (chunk: Buffer) => {
      received += chunk.length
    })
    socket.resume()
    await once(socket, 'close')
    assert.ok(received < body.length)
    assert.equal(clock.pending(), 0)
  })

  it('changes its certificate for new connections without a restart', async t => {
    const server = await running(t, echo([]))
    const other = await foreignPair('apiserver-2')
    server.setTls(tlsOf(other))
    await assert.rejects(client(t, server).request(get('/')), { code: 'API_UNREACHABLE' })
    const transport = connectUndici({
      server: `https://127.0.0.1:${server.port}`,
      certificateAuthority: other.certificate,
    })
    t.after(() => transport.closeConnections())
    assert.equal((await transport.request(get('/'))).status, 200)
  })

  it('resumes no session', async t => {
    const { port } = await running(t, echo([]))
    const options = { port, host: '127.0.0.1', ca: serverPair.certificate }
    const first = tls(options)
    const ticket = new Promise<Buffer>(resolve => first.once('session', resolve))
    await once(first, 'secureConnect')
    first.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(first, 'data')
    const session = await ticket
    first.destroy()
    const second = tls({ ...options, session })
    await once(second, 'secureConnect')
    assert.equal(second.isSessionReused(), false)
    second.destroy()
  })

  it('bears clients that speak nonsense or hang up in the middle', async t => {
    const small = smallApi()
    const server = await running(t, small.api)
    const raw = tcp(server.port, '127.0.0.1')
    raw.on('error', () => {})
    raw.write(Buffer.alloc(1000, 'x'))
    await once(raw, 'close')
    const options = { port: server.port, host: '127.0.0.1', ca: serverPair.certificate }
    for (const text of [
      'nonsense\r\n\r\n',
      'POST /api/v1/nodes HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab',
    ]) {
      const socket = tls(options)
      socket.on('error', () => {})
      await once(socket, 'secureConnect')
      socket.write(text)
      socket.destroy()
      await once(socket, 'close')
    }
    assert.equal((await client(t, server).request(get('/healthz'))).status, 200)
  })

  it('says which port is taken', async t => {
    const { port } = await running(t, echo([]))
    await assert.rejects(
      serve({ api: echo([]), port, tls: tlsOf(serverPair), clock: systemClock, log: silentLog }),
      {
        code: 'PORT_IN_USE',
        message: `127.0.0.1:${port} cannot be listened on (EADDRINUSE); give another --port`,
      },
    )
  })

  it('ends watches and connections when it closes', async t => {
    const small = smallApi()
    const server = await running(t, small.api)
    const response = await client(t, server).request(get('/api/v1/nodes?watch=true&resourceVersion=1'))
    await small.api.close()
    assert.ok(!(response.body instanceof Uint8Array))
    for await (const _chunk of response.body) assert.fail('nothing happened')
    await server.close()
    await assert.rejects(client(t, server).request(get('/healthz')), { code: 'API_UNREACHABLE' })
  })
})
