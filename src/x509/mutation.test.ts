import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { generateSigner } from '../keys/private-key.ts'
import { issueCertificate, selfSignedCa } from '../keys/self-signed.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import {
  type Certificate,
  certificateSignatureIsValid,
  parseCertificate,
  parseCertificatesPem,
  verifyChain,
} from './certificate.ts'
import { verifyHostname } from './hostname.ts'
import { formatName, parseName } from './name.ts'
import { decodePem } from './pem.ts'
import { parseCertificateRequest, requestSignatureIsValid } from './request.ts'
import { encodeSubjectAltName, parseSubjectAltName } from './san.ts'

const corpus = (name: string) =>
  new Uint8Array(readFileSync(new URL(`testdata/csr-corpus/${name}.der`, import.meta.url)))
const requests = [
  '00-good',
  '20-san-ipv6',
  '33-unstructuredName+challenge-utf8',
  '39-san-othername-dirname-rid',
  '55-rsa-pss',
].map(corpus)

const random = seededRandom(7)
const signer = generateSigner('Ed25519', random)
const year = 365 * 86_400_000
const now = Date.UTC(2030, 0, 1)
const times = { notBefore: now - year, notAfter: now + 30 * year }
const caPem = await selfSignedCa({ commonName: 'kube-ca', signer, random, ...times })
const [ca] = parseCertificatesPem(caPem) as [Certificate]
const leafPem = await issueCertificate({
  ca: { certificate: ca, signer },
  subject: parseCertificateRequest(corpus('00-good')).subject,
  spki: parseCertificateRequest(corpus('00-good')).spki,
  random,
  ...times,
  extensions: {
    keyUsage: ['digitalSignature'],
    extendedKeyUsage: ['1.3.6.1.5.5.7.3.1'],
    subjectAltName: { dnsNames: ['n1'], ipAddresses: [Uint8Array.of(10, 0, 0, 1)], uris: ['spiffe://a/b'] },
  },
})
const certificates = [caPem, leafPem].flatMap(pem => decodePem(pem).map(({ bytes }) => bytes))

type Edit = (der: Uint8Array) => Uint8Array
const at = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const octet = fc.oneof(
  fc.integer({ min: 0, max: 255 }),
  fc.constantFrom(0, 1, 0x7f, 0x80, 0x81, 0x30, 0x31, 0xa0, 0xff),
)
const edit: fc.Arbitrary<Edit> = fc.oneof(
  fc.tuple(at, octet).map(
    ([where, value]): Edit =>
      der =>
        der.map((old, i) => (i === Math.floor(where * der.length) ? value : old)),
  ),
  fc.tuple(at, octet).map(
    ([where, value]): Edit =>
      der =>
        splice(der, where, 0, [value]),
  ),
  fc.tuple(at, fc.integer({ min: 1, max: 9 })).map(
    ([where, count]): Edit =>
      der =>
        splice(der, where, count, []),
  ),
  at.map(
    (where): Edit =>
      der =>
        der.slice(0, Math.floor(where * der.length)),
  ),
)
const edits = fc.array(edit, { minLength: 1, maxLength: 3 })

function splice(der: Uint8Array, where: number, remove: number, insert: number[]): Uint8Array {
  const from = Math.floor(where * der.length)
  return Uint8Array.from([...der.subarray(0, from), ...insert, ...der.subarray(from + remove)])
}

const edited = (der: Uint8Array, all: Edit[]) => all.reduce((bytes, change) => change(bytes), der)

/** The value, or undefined where the bytes were refused; any other error fails the test. */
function parsed<T>(parse: (der: Uint8Array) => T, der: Uint8Array): T | undefined {
  try {
    return parse(der)
  } catch (error) {
    assert.ok(hasCode(error, 'X509_MALFORMED'), String(error))
    return undefined
  }
}

test('a mutated request is read or refused with X509_MALFORMED, and what was read holds together', () => {
  fc.assert(
    fc.property(fc.constantFrom(...requests), edits, (der, all) => {
      const bytes = edited(der, all)
      const request = parsed(parseCertificateRequest, bytes)
      if (request === undefined) return
      assert.deepEqual(request.raw, bytes)
      const valid = requestSignatureIsValid(request)
      assert.ok(!valid || Buffer.compare(request.tbs, parseCertificateRequest(der).tbs) === 0, 'forged')
      assert.equal(typeof formatName(request.subject), 'string')
      const { others: _, ...names } = request.subjectAltName
      assert.deepEqual(parseSubjectAltName(encodeSubjectAltName(names)).dnsNames, names.dnsNames)
    }),
    { numRuns: 3000 },
  )
})

test('a mutated certificate is read or refused with X509_MALFORMED, and OpenSSL reads what we read', () => {
  fc.assert(
    fc.property(fc.constantFrom(...certificates), edits, (der, all) => {
      const bytes = edited(der, all)
      const certificate = parsed(parseCertificate, bytes)
      if (certificate === undefined) return
      assert.doesNotThrow(() => new X509Certificate(bytes))
      assert.deepEqual(parseName(certificate.subject.raw).rdns, certificate.subject.rdns)
      const changed = certificates.every(original => Buffer.compare(bytes, original) !== 0)
      assert.ok(!changed || !certificateSignatureIsValid(certificate, ca), 'forged')
      assert.ok(!changed || !verifyChain([certificate], [ca], { now, usage: 'serverAuth' }).ok, 'trusted')
      verifyHostname(certificate, 'n1')
    }),
    { numRuns: 3000 },
  )
})

test('random bytes are never read', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes =>
      assert.equal(parsed(parseCertificateRequest, bytes), undefined),
    ),
  )
})
