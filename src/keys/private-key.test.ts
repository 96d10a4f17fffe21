import assert from 'node:assert/strict'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { openssl } from '../testing/openssl.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { parsePublicKey } from '../x509/public-key.ts'
import { checkSignature } from '../x509/signature.ts'
import { generateSigner, type KeyAlgorithm, keyMatches, loadSigner } from './private-key.ts'
import { Secret } from './secret.ts'
import { selfSignedCa } from './self-signed.ts'

const tbs = Buffer.from('to be signed')
const random = seededRandom(1)

const algorithms: [KeyAlgorithm, string, string][] = [
  ['ECDSA-P256', 'ecdsa-with-SHA256', 'EC PRIVATE KEY'],
  ['ECDSA-P384', 'ecdsa-with-SHA384', 'EC PRIVATE KEY'],
  ['RSA-2048', 'sha256WithRSAEncryption', 'RSA PRIVATE KEY'],
  ['Ed25519', 'Ed25519', 'PRIVATE KEY'],
]

for (const [algorithm, signatureAlgorithm, label] of algorithms) {
  test(`an ${algorithm} key signs, is written as ${label} and is the same when read back`, async () => {
    const signer = generateSigner(algorithm, random)
    const pem = signer.exportPem().reveal()
    assert.ok(pem.startsWith(`-----BEGIN ${label}-----\n`))
    const loaded = loadSigner(pem)
    assert.deepEqual([loaded.publicKey, loaded.algorithm], [signer.publicKey, signatureAlgorithm])
    const key = { spki: signer.publicKey, keyType: parsePublicKey(signer.publicKey).type }
    const signature = await loaded.sign(tbs)
    assert.equal(signature.constructor, Uint8Array)
    assert.deepEqual(checkSignature({ tbs, signature, signatureAlgorithm }, key), { ok: true })
    assert.equal(openssl(['pkey', '-check', '-noout'], pem).status, 0)
  })
}

test('PKCS#8, SEC1 and PKCS#1 keys of other programs are read, EC parameters before them too', () => {
  for (const arguments_ of [
    ['genpkey', '-algorithm', 'ED25519'],
    ['ecparam', '-name', 'prime256v1', '-genkey'],
    ['genrsa', '-traditional', '2048'],
  ]) {
    const { text } = openssl(arguments_)
    assert.ok(loadSigner(new Secret(text)).publicKey.length > 0, arguments_[0])
  }
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-521',
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
    publicKeyEncoding: { format: 'der', type: 'spki' },
  })
  assert.equal(loadSigner(privateKey).algorithm, 'ecdsa-with-SHA512')
})

test('an Ed25519 key depends on nothing but the random source', async () => {
  const [a, b, c] = [1, 1, 2].map(seed => generateSigner('Ed25519', seededRandom(seed)))
  assert.ok(a && b && c)
  assert.deepEqual(a.publicKey, b.publicKey)
  assert.deepEqual(await a.sign(tbs), await b.sign(tbs))
  assert.notDeepEqual(a.publicKey, c.publicKey)
})

test('a text without a usable key is refused without being quoted', () => {
  const { privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' },
    publicKeyEncoding: { format: 'der', type: 'spki' },
  })
  for (const text of [
    '',
    'hunter2',
    '-----BEGIN PRIVATE KEY-----\nhunter2=\n-----END PRIVATE KEY-----\n',
    privateKey,
  ]) {
    assert.throws(
      () => loadSigner(text),
      error => hasCode(error, 'X509_MALFORMED') && !/hunter2/.test(`${error.stack}${error.cause}`),
    )
  }
})

test('a key that cannot sign certificates is refused', () => {
  const { privateKey } = generateKeyPairSync('x25519', {
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
    publicKeyEncoding: { format: 'der', type: 'spki' },
  })
  assert.throws(
    () => loadSigner(privateKey),
    error => hasCode(error, 'X509_UNSUPPORTED_KEY'),
  )
  const curve = openssl(['ecparam', '-name', 'secp256k1', '-genkey', '-noout']).text
  assert.throws(
    () => loadSigner(curve),
    error => hasCode(error, 'X509_MALFORMED'),
  )
})

test('a key matches the certificate that carries it and no other', async () => {
  const [signer, other] = [generateSigner('ECDSA-P256', random), generateSigner('ECDSA-P256', random)]
  const times = { notBefore: Date.UTC(2030, 0), notAfter: Date.UTC(2031, 0) }
  const pem = await selfSignedCa({ commonName: 'a', signer, random, ...times })
  const spki = new Uint8Array(new X509Certificate(pem).publicKey.export({ format: 'der', type: 'spki' }))
  assert.ok(keyMatches(signer, { spki }))
  assert.ok(!keyMatches(other, { spki }))
})
