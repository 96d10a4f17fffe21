import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { generateSigner } from '../keys/private-key.ts'
import { openssl } from '../testing/openssl.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { encodeSignatureAlgorithm } from './algorithms.ts'
import {
  type CertificateFields,
  encodeTbsCertificate,
  parseCertificate,
  parseCertificatesPem,
} from './certificate.ts'
import { encodeExtensions } from './certificate-extensions.ts'
import { encodeBitString, encodeOid, encodeSequence } from './der-write.ts'
import { keyUsageBits } from './extension-values.ts'
import { parseIp } from './ip.ts'
import { nameOf, parseName } from './name.ts'
import { oids } from './oid.ts'
import { encodePem } from './pem.ts'
import { assembleSigned } from './request.ts'
import { serialDecimal } from './serial-number.ts'

const random = seededRandom(1)
const signer = generateSigner('Ed25519', random)
const subject = nameOf({ commonName: 'system:node:n1', organizations: ['system:nodes'] })

const fields: CertificateFields = {
  serialNumber: Uint8Array.of(0xff, 1),
  algorithm: 'Ed25519',
  issuer: nameOf({ commonName: 'kube-ca' }),
  notBefore: Date.UTC(2026, 0, 1),
  notAfter: Date.UTC(2050, 0, 1, 1, 2, 3),
  subject,
  spki: signer.publicKey,
  extensions: encodeExtensions(
    {
      keyUsage: ['digitalSignature', 'keyEncipherment'],
      extendedKeyUsage: [oids.serverAuth, oids.clientAuth],
      basicConstraints: { ca: false },
      authorityKeyIdentifier: Uint8Array.of(1, 2, 3),
      subjectAltName: { dnsNames: ['n1'], ipAddresses: [parseIp('fd00::1') ?? new Uint8Array(4)] },
    },
    subject,
  ),
}

const certified = async (of: CertificateFields) => {
  const tbs = encodeTbsCertificate(of)
  return assembleSigned(tbs, 'Ed25519', await signer.sign(tbs))
}

test('openssl shows the content of C-36', async () => {
  const { status, text } = openssl(['x509', '-inform', 'DER', '-text', '-noout'], await certified(fields))
  assert.equal(status, 0, text)
  const shown = [
    'Version: 3 (0x2)',
    'Serial Number: 65281 (0xff01)',
    'Issuer: CN = kube-ca',
    'Not Before: Jan  1 00:00:00 2026 GMT',
    'Not After : Jan  1 01:02:03 2050 GMT',
    'Subject: O = system:nodes, CN = system:node:n1',
    'X509v3 Key Usage: critical Digital Signature, Key Encipherment',
    'X509v3 Extended Key Usage: TLS Web Server Authentication, TLS Web Client Authentication',
    'X509v3 Basic Constraints: critical CA:FALSE',
    'X509v3 Authority Key Identifier: 01:02:03',
    'X509v3 Subject Alternative Name: DNS:n1, IP Address:FD00:0:0:0:0:0:0:1',
  ]
  const flat = text.replace(/\s+/g, ' ')
  for (const line of shown) assert.ok(flat.includes(line.replace(/\s+/g, ' ')), line)
})

test('the SAN is critical only where the subject is empty (C-36)', () => {
  const san = { subjectAltName: { dnsNames: ['n1'] } }
  const empty = parseName(encodeSequence())
  assert.deepEqual(
    encodeExtensions(san, subject).map(({ critical }) => critical),
    [false],
  )
  assert.deepEqual(
    encodeExtensions(san, empty).map(({ critical }) => critical),
    [true],
  )
  assert.deepEqual(
    encodeExtensions({ subjectAltName: { dnsNames: [] }, keyUsage: [], extendedKeyUsage: [] }, subject),
    [],
  )
})

test('what was encoded is parsed, and node reads the same', async () => {
  const seconds = fc.integer({ min: 0, max: Date.UTC(2100, 0) / 1000 }).map(second => second * 1000)
  const wish = fc.record({
    serialNumber: fc
      .uint8Array({ minLength: 1, maxLength: 19 })
      .filter(bytes => bytes.some(byte => byte !== 0)),
    notBefore: seconds,
    notAfter: seconds,
    commonName: fc.stringMatching(/^[a-z:.]{1,20}$/),
    keyUsage: fc.subarray([...keyUsageBits], { minLength: 1 }),
    extendedKeyUsage: fc.subarray(['1.3.6.1.5.5.7.3.1', '1.3.6.1.5.5.7.3.2', '1.2.3.4'], { minLength: 1 }),
    pathLength: fc.option(fc.nat(300), { nil: undefined }),
    identifier: fc.uint8Array({ minLength: 1, maxLength: 20 }),
    dnsNames: fc.uniqueArray(fc.domain(), { minLength: 1, maxLength: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(
      wish,
      async ({
        serialNumber,
        notBefore,
        notAfter,
        commonName,
        pathLength,
        identifier,
        dnsNames,
        ...usages
      }) => {
        const name = nameOf({ commonName })
        const basicConstraints = { ca: true, ...(pathLength === undefined ? {} : { pathLength }) }
        const identifiers = { subjectKeyIdentifier: identifier, authorityKeyIdentifier: identifier }
        const extensions = encodeExtensions(
          { ...usages, ...identifiers, basicConstraints, subjectAltName: { dnsNames } },
          name,
        )
        const der = await certified({
          ...fields,
          serialNumber,
          notBefore,
          notAfter,
          subject: name,
          extensions,
        })
        const read = parseCertificate(der)
        assert.deepEqual(
          [read.notBefore, read.notAfter, read.subject, read.issuer],
          [notBefore, notAfter, name, fields.issuer],
        )
        assert.deepEqual([read.keyUsage, read.extendedKeyUsage], [usages.keyUsage, usages.extendedKeyUsage])
        assert.deepEqual([read.subjectKeyIdentifier, read.authorityKeyIdentifier], [identifier, identifier])
        assert.deepEqual([read.basicConstraints, read.subjectAltName.dnsNames], [basicConstraints, dnsNames])
        assert.deepEqual(read.extensions, extensions)
        const oracle = new X509Certificate(der)
        assert.equal(serialDecimal(read.serialNumber), BigInt(`0x${oracle.serialNumber}`).toString())
        assert.equal(oracle.validToDate.getTime(), notAfter)
        assert.equal(oracle.subjectAltName, dnsNames.map(dns => `DNS:${dns}`).join(', '))
        assert.ok(oracle.verify(oracle.publicKey))
      },
    ),
    { numRuns: 50 },
  )
})

test('a serial number is positive and has at most 20 octets', () => {
  const encoding = (serialNumber: Uint8Array) => () => encodeTbsCertificate({ ...fields, serialNumber })
  for (const wrong of [
    new Uint8Array(0),
    new Uint8Array(4),
    new Uint8Array(20).fill(0x80),
    new Uint8Array(21).fill(1),
  ]) {
    assert.throws(encoding(wrong), RangeError)
  }
  assert.doesNotThrow(encoding(new Uint8Array(20).fill(0x7f)))
})

test('every certificate of a PEM bundle is read, other blocks are passed over', async () => {
  const pem = encodePem('CERTIFICATE', await certified(fields))
  const bundle = `# our CA\n${pem}${encodePem('EC PARAMETERS', new Uint8Array(3))}\n${pem}`
  assert.equal(parseCertificatesPem(bundle).length, 2)
  assert.deepEqual(parseCertificatesPem(pem.replace('-----\n', '-----\na: b\n')), [])
  assert.deepEqual(parseCertificatesPem(''), [])
  const broken = encodePem('CERTIFICATE', new Uint8Array(3))
  assert.throws(
    () => parseCertificatesPem(pem + broken),
    error => hasCode(error, 'X509_MALFORMED'),
  )
})

const tbs = encodeTbsCertificate(fields)
const signature = encodeBitString(new Uint8Array(64))
const ed25519 = encodeSignatureAlgorithm('Ed25519')
const replaced = (from: string, to: string) => {
  const hex = Buffer.from(tbs).toString('hex')
  assert.ok(hex.includes(from), from)
  return encodeSequence(new Uint8Array(Buffer.from(hex.replace(from, to), 'hex')), ed25519, signature)
}
const withExtensions = (...extensions: CertificateFields['extensions']) =>
  encodeSequence(encodeTbsCertificate({ ...fields, extensions }), ed25519, signature)
const extension = (id: string, value: Uint8Array, critical = false) => ({ id, critical, value })

const policy = encodeSequence(encodeOid('1.2.3'))

const refused: Record<string, [Uint8Array, RegExp]> = {
  'bytes after the certificate': [
    Buffer.concat([encodeSequence(tbs, ed25519, signature), Uint8Array.of(0)]),
    /1 trailing bytes/,
  ],
  'another algorithm outside': [
    encodeSequence(tbs, encodeSignatureAlgorithm('ecdsa-with-SHA256'), signature),
    /inner and outer signature algorithm/,
  ],
  'version 4': [replaced('a003020102', 'a003020103'), /invalid version 4/],
  'a negative serial number': [replaced('020300ff01', '02038fff01'), /negative serial number/],
  'unused bits of the signature': [
    encodeSequence(tbs, ed25519, encodeBitString(new Uint8Array(64), 1)),
    /unused bits/,
  ],
  'the same extension twice': [
    withExtensions(extension('1.2.3', signature), extension('1.2.3', signature)),
    /duplicate extension 1\.2\.3/,
  ],
  'a critical SKI': [
    withExtensions(extension(oids.subjectKeyIdentifier, Uint8Array.of(4, 1, 1), true)),
    /marked critical/,
  ],
  'a critical AKI': [
    withExtensions(extension(oids.authorityKeyIdentifier, encodeSequence(), true)),
    /marked critical/,
  ],
  'keyUsage that is none': [withExtensions(extension(oids.keyUsage, encodeSequence())), /malformed keyUsage/],
  'extendedKeyUsage that is none': [
    withExtensions(extension(oids.extendedKeyUsage, encodeSequence(signature))),
    /malformed extendedKeyUsage/,
  ],
  'a negative path length': [
    withExtensions(extension(oids.basicConstraints, encodeSequence(Uint8Array.of(1, 1, 255, 2, 1, 255)))),
    /negative path length/,
  ],
  'policies cut off': [
    withExtensions(extension(oids.certificatePolicies, Uint8Array.of(0x30, 2, 6, 5))),
    /malformed extension 2\.5\.29\.32/,
  ],
  'a policy twice': [
    withExtensions(extension(oids.certificatePolicies, encodeSequence(policy, policy))),
    /is there twice/,
  ],
  'a critical AIA': [
    withExtensions(extension(oids.authorityInfoAccess, encodeSequence(), true)),
    /marked critical/,
  ],
  'distribution points that are none': [
    withExtensions(extension(oids.crlDistributionPoints, encodeSequence(signature))),
    /expected tag 0x30/,
  ],
  'policy constraints with more': [
    withExtensions(extension(oids.policyConstraints, encodeSequence(signature))),
    /trailing bytes/,
  ],
  'a key without its point': [replaced('032100', '032101'), /padding|unused bits/],
}

for (const [what, [der, reason]] of Object.entries(refused)) {
  test(`it is refused: ${what}`, () => {
    assert.throws(
      () => parseCertificate(der),
      error => hasCode(error, 'X509_MALFORMED') && reason.test(error.message),
    )
  })
}
