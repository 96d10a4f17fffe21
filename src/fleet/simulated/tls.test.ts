import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../../keys/private-key.ts'
import { issueCertificate, selfSignedCa } from '../../keys/self-signed.ts'
import { parseCertificate, parseCertificatesPem } from '../../x509/certificate.ts'
import { parseIp } from '../../x509/ip.ts'
import { commonNames, nameOf } from '../../x509/name.ts'
import { SeededRandom } from './random.ts'
import { Handshakes } from './tls.ts'

const day = 86_400_000
const random = new SeededRandom('tls')
const signer = generateSigner('Ed25519', random)
const authority = async (commonName: string) => {
  const pem = await selfSignedCa({ commonName, signer, notBefore: 0, notAfter: 1000 * day, random })
  return { pem, certificate: parseCertificatesPem(pem)[0] ?? assert.fail('no certificate'), signer }
}
const issue = (ca: Awaited<ReturnType<typeof authority>>, commonName: string, notAfter: number) =>
  issueCertificate({
    ca,
    subject: nameOf({ commonName }),
    spki: signer.publicKey,
    notBefore: 0,
    notAfter,
    random,
    extensions: {
      extendedKeyUsage: ['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2'],
      subjectAltName: { dnsNames: ['api'], ipAddresses: [parseIp('10.0.0.1') ?? assert.fail('no address')] },
    },
  })

test('a server is trusted under its names, by those who know its CA, until its certificate ends', async () => {
  const [old, next] = [await authority('old'), await authority('new')]
  const certificate = await issue(next, 'api', 10 * day)
  const handshakes = new Handshakes()
  const refusal = (server: string, certificateAuthority: string, now: number) =>
    handshakes.refusalOfServer(certificate, { server, certificateAuthority }, now)
  assert.equal(refusal('https://10.0.0.1:6443', next.pem, day), '')
  assert.equal(refusal('https://api:6443', old.pem + next.pem, day), '')
  assert.match(refusal('https://10.0.0.2:6443', next.pem, day), /valid for 10\.0\.0\.1, not 10\.0\.0\.2/)
  assert.match(refusal('https://10.0.0.1:6443', old.pem, day), /signed by unknown authority/)
  assert.match(refusal('https://10.0.0.1:6443', '', day), /signed by unknown authority/)
  // What was good is asked anew when a clock shows a time outside.
  assert.match(refusal('https://10.0.0.1:6443', next.pem, 11 * day), /has expired/)
  assert.match(refusal('https://10.0.0.1:6443', next.pem, -day), /not yet valid/)
  assert.equal(refusal('https://10.0.0.1:6443', next.pem, 10 * day), '')
})

test('the server sees the chain of a client that has its key, and TLS fails for one that has not', async () => {
  const ca = await authority('ca')
  const certificate = await issue(ca, 'node', day)
  const handshakes = new Handshakes()
  const chain = handshakes.presentedChain({ certificate, key: signer.exportPem() })
  assert.deepEqual(
    chain.map(der => commonNames(parseCertificate(der).subject)),
    [['node']],
  )
  const other = generateSigner('Ed25519', random).exportPem()
  assert.throws(() => handshakes.presentedChain({ certificate, key: other }), /does not match/)
  assert.throws(() => handshakes.presentedChain({ certificate: '', key: other }))
})
