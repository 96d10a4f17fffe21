import assert from 'node:assert/strict'
import { request } from 'node:https'
import { test } from 'node:test'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import { RollcallError } from '../errors.ts'
import { Secret } from '../keys/secret.ts'
import { connectHttps } from '../kube/https-transport.ts'
import { type ForeignPair, foreignPair, listenHttps } from '../testing/https-server.ts'
import { serveHttps } from './serve-https.ts'
import type { ServingOptions } from './serving.ts'

const whole = { method: 'GET', url: '/', headers: {} }

/** An API server that remembers which certificate each connection showed. */
async function apiServer(pair: ForeignPair, options = {}) {
  const shown: string[] = []
  const server = await listenHttps(
    { cert: pair.certificate, key: pair.key, requestCert: true, rejectUnauthorized: false, ...options },
    ({ socket }, response) => {
      const leaf: DetailedPeerCertificate = (socket as TLSSocket).getPeerCertificate(true)
      shown.push(leaf.subject?.CN?.toString() ?? 'none')
      response.end('{}')
    },
  )
  return { ...server, shown }
}

test('K-50: the API is asked by TLS 1.2 or better alone', async () => {
  const pair = await foreignPair('api')
  const ciphers = 'DEFAULT@SECLEVEL=0'
  const old = await apiServer(pair, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers })
  const good = await apiServer(pair, { maxVersion: 'TLSv1.2' })
  try {
    for (const [server, works] of [
      [old, false],
      [good, true],
    ] as const) {
      const transport = connectHttps({ server: server.url, certificateAuthority: pair.certificate })
      const answer = transport.request(whole)
      if (works) assert.equal((await answer).status, 200)
      else await assert.rejects(answer, RollcallError)
      transport.closeConnections()
    }
  } finally {
    await Promise.all([old.stop(), good.stop()])
  }
})

test('K-50: what is asked after a rotation goes over a connection with the certificate in force', async () => {
  const [pair, first, second] = await Promise.all(['api', 'first', 'second'].map(foreignPair))
  assert.ok(pair && first && second)
  const server = await apiServer(pair)
  try {
    for (const { certificate, key } of [first, second]) {
      const transport = connectHttps({
        server: server.url,
        certificateAuthority: pair.certificate,
        clientCertificate: { certificate, key: new Secret(key) },
      })
      assert.equal((await transport.request(whole)).status, 200)
      transport.closeConnections()
    }
    assert.deepEqual(server.shown, ['first', 'second'])
  } finally {
    await server.stop()
  }
})

test('H-1: client certificates are asked for and not demanded, and the handler is told which was shown', async () => {
  const [pair, client] = await Promise.all(['node', 'caller'].map(foreignPair))
  assert.ok(pair && client)
  const callers: (number | undefined)[] = []
  const options: ServingOptions = {
    address: '127.0.0.1',
    port: 0,
    getCertificate: () => ({ chain: pair.certificate, key: new Secret(pair.key) }),
    async handle(_request, peer) {
      callers.push(peer.certificates?.length)
      return { status: 401, headers: {}, body: new TextEncoder().encode('Unauthorized') }
    },
  }
  const { port, close } = await serveHttps(options)
  try {
    for (const shown of [{}, { cert: client.certificate, key: client.key }])
      assert.equal(await statusOf({ port, ca: pair.certificate, ...shown }), 401)
    assert.deepEqual(callers, [undefined, 1])
  } finally {
    await close()
  }
})

function statusOf(options: { port: number; ca: string; cert?: string; key?: string }): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', agent: false, ...options }, response => {
      response.resume()
      resolve(response.statusCode)
    })
      .once('error', reject)
      .end()
  })
}
