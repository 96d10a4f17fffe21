import assert from 'node:assert/strict'
import { test } from 'node:test'
import 'reflect-metadata'
import { Pkcs10CertificateRequest, SubjectAlternativeNameExtension } from '@peculiar/x509'
import fc from 'fast-check'
import { RollcallError } from '../errors.ts'
import { generateSigner, type KeyAlgorithm } from '../keys/private-key.ts'
import type { Signer } from '../keys/signer.ts'
import { openssl } from '../testing/openssl.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { encodeSignatureAlgorithm } from './algorithms.ts'
import { contextTag, tags } from './der.ts'
import {
  encode,
  encodeBitString,
  encodeOctetString,
  encodeOid,
  encodeSequence,
  encodeSmallInteger,
} from './der-write.ts'
import { parseIp } from './ip.ts'
import { type Name, nameOf } from './name.ts'
import { oids } from './oid.ts'
import { encodePem } from './pem.ts'
import {
  assembleSigned,
  encodeRequestInfo,
  parseCertificateRequest,
  requestSignatureIsValid,
  requireRequestSignature,
} from './request.ts'
import { emptySubjectAltName, type SubjectAltName } from './san.ts'

const signer = generateSigner('Ed25519', seededRandom(1))
const subject = nameOf({ commonName: 'system:node:n1', organizations: ['system:nodes'] })
const addresses = ['10.0.0.1', 'fd00::1'].map(text => parseIp(text) ?? new Uint8Array(4))

async function request(by: Signer, of: Name, subjectAltName?: Partial<SubjectAltName>): Promise<Uint8Array> {
  const tbs = encodeRequestInfo({
    subject: of,
    spki: by.publicKey,
    ...(subjectAltName ? { subjectAltName } : {}),
  })
  return assembleSigned(tbs, by.algorithm, await by.sign(tbs))
}

for (const algorithm of ['ECDSA-P256', 'ECDSA-P384', 'RSA-2048', 'Ed25519'] satisfies KeyAlgorithm[]) {
  test(`openssl verifies a request with an ${algorithm} key and shows its names`, async () => {
    const der = await request(generateSigner(algorithm, seededRandom(2)), subject, {
      dnsNames: ['n1'],
      ipAddresses: addresses,
    })
    const { status, text } = openssl(
      ['req', '-verify', '-text', '-noout', '-nameopt', 'RFC2253'],
      encodePem('CERTIFICATE REQUEST', der),
    )
    assert.equal(status, 0, text)
    assert.match(text, /verify OK/)
    assert.match(text, /Version: 1 \(0x0\)/)
    assert.match(text, /Subject: CN=system:node:n1,O=system:nodes/)
    assert.match(text, /DNS:n1, IP Address:10\.0\.0\.1, IP Address:FD00:0:0:0:0:0:0:1/)
  })
}

test('@peculiar/x509 reads and verifies what we write', async () => {
  const der = await request(generateSigner('ECDSA-P256', seededRandom(3)), subject, {
    dnsNames: ['n1'],
    ipAddresses: addresses,
  })
  const read = new Pkcs10CertificateRequest(new Uint8Array(der))
  assert.ok(await read.verify())
  const extension = read.getExtension(oids.subjectAltName)
  assert.ok(extension)
  const { items } = new SubjectAlternativeNameExtension(extension.rawData).names
  const names = items.map(({ type, value }) => `${type}:${value}`)
  assert.deepEqual(names, ['dns:n1', 'ip:10.0.0.1', 'ip:fd00::1'])
})

test('any request survives a round trip', async () => {
  const dnsNames = fc.array(fc.domain(), { maxLength: 3 })
  const ipAddresses = fc.array(
    fc.ipV4().map(text => parseIp(text) ?? new Uint8Array(4)),
    { maxLength: 3 },
  )
  const organizations = fc.uniqueArray(fc.stringMatching(/^[a-z:]{1,12}$/), { maxLength: 3 })
  const san = fc.record({ dnsNames, ipAddresses }, { noNullPrototype: true })
  await fc.assert(
    fc.asyncProperty(
      fc.stringMatching(/^[a-zé:.@-]{1,30}$/),
      organizations,
      san,
      async (commonName, groups, subjectAltName) => {
        const name = nameOf({ commonName, organizations: groups })
        const read = parseCertificateRequest(await request(signer, name, subjectAltName))
        assert.deepEqual(read.subject, name)
        assert.deepEqual(read.spki, signer.publicKey)
        assert.deepEqual(read.subjectAltName, { ...emptySubjectAltName(), ...subjectAltName })
        assert.deepEqual([read.keyType, read.signatureAlgorithm, read.oddities], ['Ed25519', 'Ed25519', []])
        assert.ok(requestSignatureIsValid(read))
      },
    ),
    { numRuns: 50 },
  )
})

test('a request signed with another key is refused with the reason', async () => {
  const other = generateSigner('ECDSA-P256', seededRandom(4))
  const tbs = encodeRequestInfo({ subject, spki: generateSigner('ECDSA-P256', seededRandom(5)).publicKey })
  const read = parseCertificateRequest(assembleSigned(tbs, other.algorithm, await other.sign(tbs)))
  assert.equal(requestSignatureIsValid(read), false)
  const refusal = {
    code: 'X509_BAD_SIGNATURE',
    message: 'certificate request: x509: ECDSA verification failure',
  }
  assert.throws(() => requireRequestSignature(read), refusal)
  assert.doesNotThrow(async () =>
    requireRequestSignature(parseCertificateRequest(await request(signer, subject))),
  )
})

test('algorithm and key of different families do not verify', async () => {
  const tbs = encodeRequestInfo({ subject, spki: signer.publicKey })
  const read = parseCertificateRequest(assembleSigned(tbs, 'ecdsa-with-SHA256', await signer.sign(tbs)))
  assert.throws(() => requireRequestSignature(read), {
    message:
      /signature algorithm specifies an ECDSA public key, but have public key of type ed25519\.PublicKey/,
  })
})

test('a Buffer is read without its fields becoming Buffers', async () => {
  const read = parseCertificateRequest(Buffer.from(await request(signer, subject)))
  assert.equal(read.spki.constructor, Uint8Array)
})

/** A request whose parts are given; its signature is nonsense. */
function crafted({
  extra = [],
  name = subject.raw,
  attributes = [],
}: {
  extra?: Uint8Array[]
  name?: Uint8Array
  attributes?: Uint8Array[]
}): Uint8Array {
  const parts = [
    encodeSmallInteger(0),
    name,
    signer.publicKey,
    encode(contextTag(0, true), ...attributes),
    ...extra,
  ]
  return encodeSequence(
    encodeSequence(...parts),
    encodeSignatureAlgorithm('Ed25519'),
    encodeBitString(new Uint8Array(64)),
  )
}

const attribute = (id: string, ...values: Uint8Array[]) =>
  encodeSequence(encodeOid(id), encode(tags.set, ...values))
const extension = (id: string, value: Uint8Array, ...extra: Uint8Array[]) =>
  encodeSequence(encodeOid(id), encodeOctetString(value), ...extra)
const extensionRequest = (...extensions: Uint8Array[]) =>
  attribute(oids.extensionRequest, encodeSequence(...extensions))
const nullElement = Uint8Array.of(5, 0)
const rdn = (type: string, tag: number, value: Uint8Array) =>
  encode(tags.set, encodeSequence(encodeOid(type), encode(tag, value)))

const odd: [string, Uint8Array, string[]][] = [
  [
    'a common name that is an INTEGER',
    crafted({ name: encodeSequence(rdn(oids.commonName, tags.integer, Uint8Array.of(5))) }),
    ['attribute-not-a-string'],
  ],
  [
    'an e-mail address in the subject',
    crafted({ name: encodeSequence(rdn('1.2.840.113549.1.9.1', tags.ia5String, Buffer.from('a@b'))) }),
    ['string-type', 'attribute-dropped'],
  ],
  [
    'a Kubernetes UID in the subject',
    crafted({ name: encodeSequence(rdn(oids.kubernetesUid, tags.utf8String, Buffer.from('u'))) }),
    ['attribute-dropped'],
  ],
  ['an element after the attributes', crafted({ extra: [nullElement] }), ['trailing-elements']],
  [
    'an element after an extension',
    crafted({
      attributes: [extensionRequest(extension(oids.keyUsage, Uint8Array.of(3, 2, 7, 0x80), nullElement))],
    }),
    ['trailing-elements'],
  ],
  ['an attribute that is no sequence', crafted({ attributes: [nullElement] }), ['unreadable-attribute']],
  [
    'two extension requests',
    crafted({ attributes: [extensionRequest(), extensionRequest()] }),
    ['two-extension-requests'],
  ],
  [
    'an extension request without value',
    crafted({ attributes: [attribute(oids.extensionRequest)] }),
    ['extension-request-values'],
  ],
  [
    'an unknown extension',
    crafted({ attributes: [extensionRequest(extension('1.2.3', nullElement))] }),
    ['unknown-extension'],
  ],
  [
    'malformed basicConstraints',
    crafted({ attributes: [extensionRequest(extension(oids.basicConstraints, nullElement))] }),
    ['extension-malformed'],
  ],
]

for (const [what, der, codes] of odd) {
  test(`${what} is an oddity`, () => {
    assert.deepEqual(
      parseCertificateRequest(der).oddities.map(({ code }) => code),
      codes,
    )
  })
}

test('a malformed common name that is no string is refused all the same', () => {
  const wrong: [number, Uint8Array][] = [
    [tags.integer, Uint8Array.of(0, 5)],
    [tags.oid, Uint8Array.of(0x80)],
    [tags.bitString, Uint8Array.of(8)],
    [tags.utcTime, Buffer.from('x')],
  ]
  for (const [tag, value] of wrong) {
    const der = crafted({ name: encodeSequence(rdn(oids.commonName, tag, value)) })
    assert.throws(() => parseCertificateRequest(der), RollcallError)
  }
})
