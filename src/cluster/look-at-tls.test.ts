import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { serveHttps } from '../agent/serve-https.ts'
import { listenHttps } from '../testing/https-server.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { createTestAuthority } from '../testing/test-authority.ts'
import { decodePem } from '../x509/pem.ts'
import { lookAtTls } from './look-at-tls.ts'

const template = {
  commonName: 'x',
  organizations: [],
  dnsNames: ['x.example'],
  ipAddresses: ['127.0.0.1'],
  usages: ['server auth'],
  signerName: '',
}
const lifetime = { notBefore: Date.UTC(2026, 0), notAfter: Date.UTC(2027, 0) }

test('the chain comes leaf first, whoever signed it and however long it has been over', async () => {
  const authority = await createTestAuthority(seededRandom(1))
  const { chain, key } = await authority.issue(template, lifetime)
  const served = chain + authority.certificate
  const server = await listenHttps({ cert: served, key: key.reveal() }, () => {})
  try {
    const port = Number(new URL(server.url).port)
    const seen = await lookAtTls({ host: '127.0.0.1', port })
    assert.deepEqual(
      seen.chain,
      decodePem(served).map(({ bytes }) => Buffer.from(bytes).toString('base64')),
    )
    assert.equal(seen.failure, undefined)
  } finally {
    await server.stop()
  }
})

test('a node without a serving certificate is seen by its alert, as Go words it', async () => {
  const handle = async () => ({ status: 404, headers: {}, body: new Uint8Array() })
  const server = await serveHttps({ address: '127.0.0.1', port: 0, getCertificate: () => undefined, handle })
  try {
    const { chain, failure } = await lookAtTls({ host: '127.0.0.1', port: server.port })
    assert.deepEqual(chain, [])
    assert.equal(failure, 'remote error: tls: internal error')
  } finally {
    await server.close()
  }
})

test('what does not speak TLS, and what nobody listens at, is a failure with its reason', async () => {
  const plain = createServer(socket => {
    socket.on('error', () => {}).on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
  })
  await new Promise<void>(resolve => plain.listen(0, '127.0.0.1', resolve))
  const address = plain.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const spoken = await lookAtTls({ host: '127.0.0.1', port })
  await new Promise(resolve => plain.close(resolve))
  assert.deepEqual(spoken.chain, [])
  assert.ok(spoken.failure)
  const silent = await lookAtTls({ host: '127.0.0.1', port })
  assert.match(silent.failure ?? '', /ECONNREFUSED/)
})
