import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { hasStandardParameters, readAlgorithmIdentifier, signatureAlgorithmName } from './algorithms.ts'
import { DerReader } from './der.ts'
import {
  encode,
  encodeBitString,
  encodedNull,
  encodeOid,
  encodeSequence,
  encodeSmallInteger,
  encodeUnsigned,
} from './der-write.ts'
import { oids } from './oid.ts'
import { parsePublicKey } from './public-key.ts'
import { checkSignature } from './signature.ts'
import { checkSignatureOnce } from './signature-once.ts'

const tbs = Buffer.from('to be signed')

function ecKey(namedCurve: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve })
  return { spki: new Uint8Array(publicKey.export({ format: 'der', type: 'spki' })), privateKey }
}

for (const curve of ['P-224', 'P-256', 'P-384', 'P-521']) {
  test(`a key on ${curve} is known and verifies; a point beside the curve is refused`, () => {
    const { spki, privateKey } = ecKey(curve)
    assert.equal(parsePublicKey(spki).type, curve)
    const signature = new Uint8Array(sign('sha256', tbs, privateKey))
    const signed = { tbs, signature, signatureAlgorithm: 'ecdsa-with-SHA256' }
    assert.deepEqual(checkSignature(signed, { spki, keyType: curve }), { ok: true })
    spki[spki.length - 1] = (spki.at(-1) ?? 0) ^ 1
    assert.throws(
      () => parsePublicKey(spki),
      error => hasCode(error, 'X509_MALFORMED'),
    )
  })
}

test('a coordinate beyond the field is refused although its remainder lies on the curve', () => {
  const { spki } = ecKey('P-521')
  const y = BigInt(`0x${Buffer.from(spki.subarray(-66)).toString('hex')}`) + 2n ** 521n - 1n
  spki.set(Buffer.from(y.toString(16).padStart(132, '0'), 'hex'), spki.length - 66)
  assert.throws(
    () => parsePublicKey(spki),
    error => hasCode(error, 'X509_MALFORMED') && /P-521/.test(error.message),
  )
})

const spkiOf = (algorithm: Uint8Array[], key: Uint8Array) =>
  encodeSequence(encodeSequence(...algorithm), encodeBitString(key))
const rsa = (modulus: Uint8Array, exponent: Uint8Array, parameters = [encodedNull]) =>
  spkiOf([encodeOid(oids.rsaEncryption), ...parameters], encodeSequence(modulus, exponent))
const odd = (length: number) => encodeUnsigned(new Uint8Array(length).fill(0x81))
const f4 = encodeSmallInteger(65_537)

test('RSA keys are named by the bits of their modulus', () => {
  assert.equal(parsePublicKey(rsa(odd(256), f4)).type, 'RSA-2048')
  assert.equal(parsePublicKey(rsa(encodeUnsigned(Uint8Array.of(1, 1)), f4)).type, 'RSA-9')
})

test('Ed25519 and unknown keys are named', () => {
  const key = spkiOf([encodeOid(oids.ed25519)], new Uint8Array(32))
  assert.equal(parsePublicKey(key).type, 'Ed25519')
  assert.equal(parsePublicKey(spkiOf([encodeOid(oids.x25519)], new Uint8Array(32))).type, 'X25519')
  assert.equal(parsePublicKey(spkiOf([encodeOid(oids.dsa), encodeSequence(f4, f4, f4)], f4)).type, 'DSA')
  assert.equal(parsePublicKey(spkiOf([encodeOid('1.2.3')], new Uint8Array(3))).type, '1.2.3')
})

const { spki: p256 } = ecKey('P-256')
const point = p256.slice(-65)
const compressed = Uint8Array.of(2 + ((point.at(-1) ?? 0) & 1), ...point.subarray(1, 33))
const ec = (key: Uint8Array, ...parameters: Uint8Array[]) =>
  spkiOf([encodeOid(oids.ecPublicKey), ...parameters], key)

const refused: Record<string, Uint8Array> = {
  'RSA without NULL': rsa(odd(256), f4, []),
  'RSA with a negative modulus': rsa(encode(2, Uint8Array.of(0x81)), f4),
  'RSA with an even modulus': rsa(encodeUnsigned(Uint8Array.of(0x82)), f4),
  'RSA with exponent 1': rsa(odd(256), encodeSmallInteger(1)),
  'RSA with an even exponent': rsa(odd(256), encodeSmallInteger(4)),
  'RSA with an exponent beyond 31 bits': rsa(odd(256), encodeUnsigned(Uint8Array.of(1, 0, 0, 0, 1))),
  'EC without curve': ec(point),
  'EC with explicit parameters': ec(point, encodeSequence()),
  'EC on secp256k1': ec(point, encodeOid('1.3.132.0.10')),
  'a compressed point': ec(compressed, encodeOid(oids.p256)),
  'the point at infinity': ec(Uint8Array.of(0), encodeOid(oids.p256)),
  'a coordinate beyond the field': ec(
    Uint8Array.of(4, ...new Uint8Array(64).fill(0xff)),
    encodeOid(oids.p256),
  ),
  'Ed25519 of 31 bytes': spkiOf([encodeOid(oids.ed25519)], new Uint8Array(31)),
  'Ed25519 with parameters': spkiOf([encodeOid(oids.ed25519), encodedNull], new Uint8Array(32)),
  'DSA without parameters': spkiOf([encodeOid(oids.dsa)], encodeSmallInteger(1)),
  'DSA with a zero': spkiOf([encodeOid(oids.dsa), encodeSequence(f4, f4, encodeSmallInteger(0))], f4),
  'bytes after it': Buffer.concat([p256, Uint8Array.of(0)]),
}

for (const [what, spki] of Object.entries(refused)) {
  test(`it is no key: ${what}`, () =>
    assert.throws(
      () => parsePublicKey(spki),
      error => hasCode(error, 'X509_MALFORMED'),
    ))
}

test('SHA-1 signs requests only, MD5 nothing, and RSA below 1024 bits neither', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const spki = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }))
  const key = { spki, keyType: 'RSA-1024' }
  const sha1 = { tbs, signature: sign('sha1', tbs, privateKey), signatureAlgorithm: 'sha1WithRSAEncryption' }
  assert.deepEqual(checkSignature(sha1, key, true), { ok: true })
  const reason = 'x509: cannot verify signature: insecure algorithm SHA1-RSA'
  assert.deepEqual(checkSignature(sha1, key), { ok: false, reason })
  const raw = sha1.signature
  assert.equal(checkSignatureOnce({ ...sha1, raw }, key, true).ok, true)
  assert.equal(checkSignatureOnce({ ...sha1, raw }, key).ok, false)
  const md5 = { tbs, signature: sign('md5', tbs, privateKey), signatureAlgorithm: 'md5WithRSAEncryption' }
  assert.equal(checkSignature(md5, key, true).ok, false)
  const small = { spki, keyType: 'RSA-1023' }
  assert.match(JSON.stringify(checkSignature({ ...sha1 }, small, true)), /1023-bit keys are insecure/)
})

test('an unknown algorithm or key does not verify', () => {
  const reason = 'x509: cannot verify signature: algorithm unimplemented'
  const signed = { tbs, signature: tbs, signatureAlgorithm: '1.2.3' }
  assert.deepEqual(checkSignature(signed, { spki: p256, keyType: 'P-256' }), { ok: false, reason })
  const known = { ...signed, signatureAlgorithm: 'Ed25519' }
  assert.deepEqual(checkSignature(known, { spki: p256, keyType: 'X25519' }), { ok: false, reason })
})

test('a key OpenSSL will not work with does not verify, and nothing is thrown', () => {
  const huge = rsa(odd(4096), f4)
  const signed = { tbs, signature: new Uint8Array(4096), signatureAlgorithm: 'sha256WithRSAEncryption' }
  assert.deepEqual(checkSignature(signed, { spki: huge, keyType: 'RSA-32768' }), {
    ok: false,
    reason: 'crypto/rsa: verification error',
  })
})

test('RSA-PSS is known with matching digest, mask and salt only', () => {
  const sha256 = encodeSequence(encodeOid('2.16.840.1.101.3.4.2.1'), encodedNull)
  const sha512 = encodeSequence(encodeOid('2.16.840.1.101.3.4.2.3'))
  const nameOfPss = (hash: Uint8Array, mask: Uint8Array, salt: number) => {
    const mgf = encodeSequence(encodeOid('1.2.840.113549.1.1.8'), mask)
    const parameters = encodeSequence(
      encode(0xa0, hash),
      encode(0xa1, mgf),
      encode(0xa2, encodeSmallInteger(salt)),
    )
    const der = encodeSequence(encodeOid('1.2.840.113549.1.1.10'), parameters)
    return signatureAlgorithmName(readAlgorithmIdentifier(new DerReader(der, 'test'), 'test'))
  }
  assert.equal(nameOfPss(sha256, sha256, 32), 'RSASSA-PSS-SHA256')
  assert.equal(nameOfPss(sha512, sha512, 64), 'RSASSA-PSS-SHA512')
  assert.equal(nameOfPss(sha256, sha512, 32), '1.2.840.113549.1.1.10')
  assert.equal(nameOfPss(sha256, sha256, 20), '1.2.840.113549.1.1.10')
})

test('parameters the standard does not foresee are noticed; with Ed25519 they make another algorithm', () => {
  const read = (...parts: Uint8Array[]) =>
    readAlgorithmIdentifier(new DerReader(encodeSequence(...parts), 'test'), 'test')
  const [ecdsa, rsaSha256, ed25519] = [
    encodeOid('1.2.840.10045.4.3.2'),
    encodeOid('1.2.840.113549.1.1.11'),
    encodeOid(oids.ed25519),
  ]
  const standard = (...parts: Uint8Array[]) =>
    hasStandardParameters(read(...parts), signatureAlgorithmName(read(...parts)))
  assert.ok(standard(ecdsa) && standard(rsaSha256, encodedNull) && standard(ed25519))
  assert.ok(!standard(ecdsa, encodedNull) && !standard(rsaSha256))
  assert.equal(signatureAlgorithmName(read(ed25519, encodedNull)), oids.ed25519)
})
