import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { before, test } from 'node:test'
import { hasCode } from '../errors.ts'
import { generateSigner } from '../keys/private-key.ts'
import { type CertificateSigningRequest, signerNames } from '../kube/types.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { type RequestContent, signedRequest } from '../testing/signed-request.ts'
import { signingAuthority } from '../testing/signing-authority.ts'
import { certificateSignatureIsValid } from '../x509/certificate.ts'
import { verifyChain } from '../x509/chain.ts'
import { formatIp, parseIp } from '../x509/ip.ts'
import { formatName } from '../x509/name.ts'
import { oids } from '../x509/oid.ts'
import { type Authority, authorityOf } from './authority.ts'
import { issue } from './issue.ts'
import { lint } from './lint.ts'
import { type Prepared, prepare } from './prepare.ts'
import { readRequest } from './read-request.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const signer = generateSigner('Ed25519', seededRandom(2))
const loopback = parseIp('127.0.0.1') ?? assert.fail()
let authority: Authority & { pem: string }
before(async () => {
  authority = await signingAuthority(now)
})

async function facts(
  content: Partial<RequestContent> = {},
  spec: Partial<CertificateSigningRequest['spec']> = {},
  serialNumber = Uint8Array.of(0x7f, 1, 2),
) {
  const subjectAltName = { dnsNames: ['worker-1'], ipAddresses: [loopback] }
  const pem = await signedRequest({ signer, commonName: 'system:node:worker-1', subjectAltName, ...content })
  const csr: CertificateSigningRequest = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr-1' },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: signerNames.kubeletServing,
      usages: ['server auth', 'digital signature'],
      ...spec,
    },
  }
  return { csr, request: readRequest(csr), authority, now, certificateLifetimeSeconds: 86_400, serialNumber }
}

test('C-36: a serving certificate has what Kubernetes puts in and nothing else', async () => {
  const { prepared } = prepare(await facts())
  assert.ok(prepared)
  const { certificate: leaf, pem } = await issue(prepared)
  assert.equal(formatName(leaf.subject), 'CN=system:node:worker-1,O=system:nodes')
  assert.deepEqual(leaf.subjectAltName.dnsNames, ['worker-1'])
  assert.deepEqual(leaf.subjectAltName.ipAddresses.map(formatIp), ['127.0.0.1'])
  assert.deepEqual(leaf.keyUsage, ['digitalSignature'])
  assert.deepEqual(leaf.extendedKeyUsage, [oids.serverAuth])
  assert.deepEqual(leaf.basicConstraints, { ca: false })
  assert.deepEqual(leaf.authorityKeyIdentifier, authority.certificate.subjectKeyIdentifier)
  assert.equal(leaf.subjectKeyIdentifier, undefined)
  assert.deepEqual(
    leaf.extensions.map(({ id, critical }) => [id, critical]),
    [
      [oids.keyUsage, true],
      [oids.extendedKeyUsage, false],
      [oids.basicConstraints, true],
      [oids.authorityKeyIdentifier, false],
      [oids.subjectAltName, false],
    ],
  )
  assert.equal((leaf.notAfter - leaf.notBefore) / 1000, 86_400)
  assert.deepEqual(verifyChain([leaf], [authority.certificate], { now, usage: 'serverAuth' }), { ok: true })
  assert.match(pem, /^-----BEGIN CERTIFICATE-----\n[^-]+-----END CERTIFICATE-----\n$/)
  // The counterpart that had no part in making it.
  const foreign = new X509Certificate(pem)
  assert.ok(foreign.verify(new X509Certificate(authority.pem).publicKey))
  assert.equal(foreign.serialNumber, '7F0102')
  assert.equal(foreign.subjectAltName, 'DNS:worker-1, IP Address:127.0.0.1')
})

test('C-33: what a profile refuses is a refusal with its message, not an error', async () => {
  const { refusal, prepared } = prepare(await facts({ organizations: ['x'] }))
  assert.equal(refusal, 'subject organization is not system:nodes')
  assert.equal(prepared, undefined)
})

test('an approved request without subject gets critical SANs', async () => {
  const usages = ['client auth', 'digital signature']
  const content = await facts({}, { signerName: signerNames.apiserverClient, usages })
  const { prepared } = prepare({
    ...content,
    request: { ...content.request, subject: { raw: Uint8Array.of(0x30, 0), rdns: [] } },
  })
  const { certificate } = await issue(prepared ?? assert.fail())
  assert.ok(certificate.extensions.find(({ id }) => id === oids.subjectAltName)?.critical)
})

test('C-35: an expired CA signs nothing', async () => {
  const expired = { ...(await facts()), now: authority.certificate.notAfter + 600_000 }
  assert.throws(
    () => prepare(expired),
    error => hasCode(error, 'SIGNER_UNUSABLE'),
  )
})

test('C-37: usages that nobody knows are not signed', async () => {
  const unknown = await facts(
    {},
    { signerName: signerNames.legacyUnknown, usages: ['server auth', 'flying'] },
  )
  assert.throws(() => prepare(unknown), /unrecognized usage values: \[flying\]/)
})

test('a prepared certificate is signed once', async () => {
  const { prepared } = prepare(await facts())
  await issue(prepared ?? assert.fail())
  await assert.rejects(issue(prepared ?? assert.fail()), error => hasCode(error, 'PREPARED_SPENT'))
})

test('what was not prepared here is not signed, whatever it looks like', async () => {
  const { prepared } = prepare(await facts())
  const forged: Prepared = { ...(prepared ?? assert.fail()) }
  await assert.rejects(issue(forged), error => hasCode(error, 'PREPARED_SPENT'))
})

test("a signature that is not the CA's is never handed out", async () => {
  const other = generateSigner('Ed25519', seededRandom(9))
  const mixedUp = {
    ...authority,
    signer: {
      ...authority.signer,
      algorithm: 'Ed25519',
      publicKey: authority.signer.publicKey,
      sign: (tbs: Uint8Array) => other.sign(tbs),
    } as const,
  }
  const { prepared } = prepare({ ...(await facts()), authority: mixedUp })
  await assert.rejects(issue(prepared ?? assert.fail()), error => hasCode(error, 'CERTIFICATE_UNFIT'))
})

/** The authority, and how often its key was asked to sign. `sign`: what is done instead. */
function counted(sign = (tbs: Uint8Array) => authority.signer.sign(tbs)) {
  const { algorithm, publicKey } = authority.signer
  const asked: Uint8Array[] = []
  const signer = {
    algorithm,
    publicKey,
    sign(tbs: Uint8Array) {
      asked.push(tbs.slice())
      return sign(tbs)
    },
  }
  return { authority: { certificate: authority.certificate, signer }, asked }
}

test("to be linted a certificate is signed with a key that is thrown away, not with the CA's", async () => {
  const { authority: watched, asked } = counted()
  const { prepared } = prepare({ ...(await facts()), authority: watched })
  const { leaf } = prepared ?? assert.fail()
  assert.equal(asked.length, 0)
  assert.equal(leaf.signature.length, 64)
  assert.ok(!certificateSignatureIsValid(leaf, authority.certificate))
})

test('what is signed and handed out is what was linted, byte for byte but for the signature', async () => {
  const { authority: watched, asked } = counted()
  for (const serial of [1, 2, 3]) {
    const { prepared } = prepare({ ...(await facts({}, {}, Uint8Array.of(serial))), authority: watched })
    const linted = (prepared ?? assert.fail()).leaf.raw.slice()
    const { certificate } = await issue(prepared ?? assert.fail())
    const before = linted.length - 64
    assert.deepEqual(certificate.raw.subarray(0, before), linted.subarray(0, before))
    assert.deepEqual(asked.at(-1), certificate.tbs)
  }
})

test('bytes that were changed after they were linted are not signed', async () => {
  const { authority: watched, asked } = counted()
  const { prepared } = prepare({ ...(await facts()), authority: watched })
  const { tbs } = prepared ?? assert.fail()
  tbs[tbs.length - 1] = (tbs.at(-1) ?? 0) ^ 1
  await assert.rejects(issue(prepared ?? assert.fail()), error => hasCode(error, 'CERTIFICATE_UNFIT'))
  assert.equal(asked.length, 0)
})

test('of a key that is not in this process every signature is verified, not only the first', async () => {
  let broken = false
  const { authority: token } = counted(async tbs => {
    const signature = await authority.signer.sign(tbs)
    return broken ? signature.reverse() : signature
  })
  const next = async () => issue(prepare({ ...(await facts()), authority: token }).prepared ?? assert.fail())
  await next()
  broken = true
  await assert.rejects(next(), error => hasCode(error, 'CERTIFICATE_UNFIT'))
})

test('a key in memory that does not fit its certificate any more is noticed within 64 certificates, and from then on each time', async () => {
  const spoilt: Authority = { ...authority }
  const next = async () => issue(prepare({ ...(await facts()), authority: spoilt }).prepared ?? assert.fail())
  await next()
  // What a bit that flips in the key does: its signatures are none of this certificate's.
  spoilt.certificate = (await signingAuthority(now, 77)).certificate
  let refused = 0
  for (let count = 0; count < 64; count++)
    await next().catch(error => {
      assert.ok(hasCode(error, 'CERTIFICATE_UNFIT'))
      refused++
    })
  assert.equal(refused, 1)
  await assert.rejects(next(), error => hasCode(error, 'CERTIFICATE_UNFIT'))
})

test('lint names every rule that the bytes break', async () => {
  const content = await facts()
  const { prepared } = prepare(content)
  const { tbs } = prepared ?? assert.fail()
  const other = await signingAuthority(now, 3)
  const later = { ...content, now: now + 2 * 86_400_000, authority: other }
  assert.throws(
    () => lint(tbs, later),
    error => {
      assert.ok(hasCode(error, 'CERTIFICATE_UNFIT'))
      assert.deepEqual(error.details.broken, [
        'valid now',
        'backdated by five minutes (C-35)',
        "authority key identifier is the CA's",
      ])
      return true
    },
  )
})

test('a signing certificate asked for by its usages is not signed', async () => {
  const spec = { signerName: signerNames.legacyUnknown, usages: ['cert sign', 'digital signature'] }
  const signing = await facts({}, spec)
  assert.throws(() => prepare(signing), /cannot sign certificates or CRLs/)
})

test('C-21: a CA is one certificate, a CA certificate, with the key that signs', async () => {
  const message = (pem: string, key = authority.signer) => {
    try {
      authorityOf(pem, key)
    } catch (error) {
      if (hasCode(error, 'SIGNER_UNUSABLE')) return error.message
    }
    return undefined
  }
  const { prepared } = prepare(await facts())
  const { pem: leaf } = await issue(prepared ?? assert.fail())
  assert.match(message('') ?? '', /expected 1 certificate, found 0/)
  assert.match(message(authority.pem + authority.pem) ?? '', /expected 1 certificate, found 2/)
  assert.match(message(leaf, signer) ?? '', /not a CA certificate/)
  assert.match(message(authority.pem, signer) ?? '', /not the key/)
  assert.equal(message(authority.pem), undefined)
})
