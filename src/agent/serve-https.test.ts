import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { type TestContext, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { hasCode } from '../errors.ts'
import { systemClock } from '../host/clock.ts'
import { systemRandom } from '../host/random.ts'
import { clientTemplate, servingTemplate } from '../join/template.ts'
import type { ApiResponse, Peer } from '../kube/transport.ts'
import { createTestAuthority } from '../testing/test-authority.ts'
import { parseCertificate } from '../x509/certificate.ts'
import { commonName } from '../x509/name.ts'
import { serveHttps } from './serve-https.ts'
import type { ServingEndpoint, ServingPair } from './serving.ts'

const authority = await createTestAuthority(systemRandom)
const now = Math.floor(systemClock.now() / 1000) * 1000
const lifetime = { notBefore: now - 3_600_000, notAfter: now + 3_600_000 }
const loopback = servingTemplate('node-a', [{ type: 'InternalIP', address: '127.0.0.1' }], 'Ed25519')
assert.ok(loopback)
const template = loopback
const issue = () => authority.issue(template, lifetime)

async function serve(
  t: TestContext,
  getCertificate: () => ServingPair | undefined,
): Promise<{ port: number; peers: Peer[]; endpoint: ServingEndpoint }> {
  const peers: Peer[] = []
  const body = new TextEncoder().encode('ok')
  const endpoint = await serveHttps({
    address: '127.0.0.1',
    port: 0,
    getCertificate,
    async handle(_, peer): Promise<ApiResponse> {
      peers.push(peer)
      return { status: 200, headers: { 'content-type': 'text/plain' }, body }
    },
  })
  t.after(() => endpoint.close())
  return { port: endpoint.port, peers, endpoint }
}

/** One handshake and one request; resolves with the whole answer and the serial number that the server showed. */
function request(port: number, pair?: ServingPair): Promise<{ text: string; serial: string }> {
  return new Promise((resolve, reject) => {
    const credentials = pair && { cert: pair.chain, key: pair.key.reveal() }
    const socket: TLSSocket = connect(
      { port, host: '127.0.0.1', ca: authority.certificate, ...credentials },
      () => {
        const { serialNumber: serial } = socket.getPeerCertificate()
        let text = ''
        socket.setEncoding('utf8')
        socket.on('data', chunk => (text += chunk))
        socket.on('end', () => resolve({ text, serial }))
        socket.write('GET /healthz HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n')
      },
    )
    socket.on('error', reject)
  })
}

test('a request is answered with the pair in force, and the next connection with the next pair', async t => {
  let pair = await issue()
  const { port } = await serve(t, () => pair)
  const first = await request(port)
  assert.match(first.text, /^HTTP\/1\.1 200 OK[\s\S]*ok$/)
  const again = await request(port)
  assert.equal(again.serial, first.serial)
  pair = await issue()
  const second = await request(port)
  assert.notEqual(second.serial, first.serial)
})

test('H-8: an open connection keeps its certificate, a new handshake gets the new one', async t => {
  let pair = await issue()
  const { port } = await serve(t, () => pair)
  const socket = connect({ port, host: '127.0.0.1', ca: authority.certificate })
  t.after(() => socket.destroy())
  socket.setEncoding('utf8')
  const ask = async () => {
    socket.write('GET /healthz HTTP/1.1\r\nHost: node\r\n\r\n')
    let text = ''
    while (!text.endsWith('ok')) text += (await once(socket, 'data'))[0]
    return { text, serial: socket.getPeerCertificate().serialNumber }
  }
  const before = await ask()
  pair = await issue()
  const after = await ask()
  assert.match(after.text, /200 OK/)
  assert.equal(after.serial, before.serial)
  assert.notEqual((await request(port)).serial, before.serial)
})

test('H-5, K-77: report 88: without a pair the handshake ends with the alert internal_error, and works once there is one', async t => {
  let pair: ServingPair | undefined
  const { port } = await serve(t, () => pair)
  await assert.rejects(
    request(port),
    (error: NodeJS.ErrnoException) => error.code === 'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
  )
  pair = await issue()
  assert.match((await request(port)).text, /200 OK/)
})

test('the client certificate is asked for and handed on unjudged; none is fine too', async t => {
  const pair = await issue()
  const { port, peers } = await serve(t, () => pair)
  const stranger = await createTestAuthority(systemRandom, 'stranger')
  await request(port, await stranger.issue(clientTemplate('someone', 'Ed25519'), lifetime))
  await request(port)
  const [leaf] = peers[0]?.certificates ?? []
  assert.ok(leaf)
  assert.equal(commonName(parseCertificate(leaf).subject), 'system:node:someone')
  assert.equal(peers[0]?.certificates?.length, 1)
  assert.equal(peers[1]?.certificates, undefined)
  assert.equal(peers[1]?.remoteAddress, '127.0.0.1')
})

test('a port that is taken is named', async t => {
  const pair = await issue()
  const { port } = await serve(t, () => pair)
  const taken = serveHttps({
    address: '127.0.0.1',
    port,
    getCertificate: () => pair,
    handle: () => Promise.reject(new Error('unused')),
  })
  await assert.rejects(taken, error => hasCode(error, 'PORT_IN_USE'))
})

test('closing ends connections that wait for a pair and those that are idle', async t => {
  const { port, endpoint } = await serve(t, () => undefined)
  const socket = connectTcp({ port, host: '127.0.0.1' })
  await new Promise<void>(resolve => socket.once('connect', () => resolve()))
  const closed = new Promise<void>(resolve => socket.once('close', () => resolve()))
  socket.on('error', () => {})
  await endpoint.close()
  await closed
})
