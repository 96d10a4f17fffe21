import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { type ErrorCode, hasCode } from '../src/errors.ts'
import { systemDisk } from '../src/host/disk.ts'
import { cryptokiLoader } from '../src/host/pkcs11.ts'
import { systemRandom } from '../src/host/random.ts'
import type { LoadCryptoki } from '../src/keys/pkcs11/cryptoki.ts'
import { destroyKey, generateKeyInToken, keyLabels } from '../src/keys/pkcs11/generate-key.ts'
import { openPkcs11Signer, signerInToken } from '../src/keys/pkcs11/pkcs11-signer.ts'
import { openToken } from '../src/keys/pkcs11/token.ts'
import { parsePkcs11Uri } from '../src/keys/pkcs11/uri.ts'
import type { KeyAlgorithm } from '../src/keys/private-key.ts'
import { selfSignedCa } from '../src/keys/self-signed.ts'
import { createManualClock } from '../src/testing/manual-clock.ts'
import { openssl } from '../src/testing/openssl.ts'
import { parsePublicKey } from '../src/x509/public-key.ts'
import { checkSignature } from '../src/x509/signature.ts'
import { softHsm, softHsmModule, whyNoSoftHsm } from './support/softhsm.ts'

// SoftHSM2 is a real PKCS#11 module. It reads its configuration when it is initialized, in this process.
suite('keys in a PKCS#11 token', { skip: whyNoSoftHsm() }, () => {
  const hsm = softHsm('signing')
  process.env.SOFTHSM2_CONF = hsm.environment.SOFTHSM2_CONF
  after(() => hsm.remove())
  const clock = createManualClock(Date.UTC(2031, 0))
  const load = cryptokiLoader()
  const optionsOf = (uri: string) => ({ uri: parsePkcs11Uri(uri), load, disk: systemDisk, clock })
  const token = openToken(optionsOf(hsm.uri('token=signing')))
  after(() => token.close())
  const fails = (code: ErrorCode) => (error: unknown) => hasCode(error, code)
  const tbs = Buffer.from('to be signed')

  const algorithms: KeyAlgorithm[] = [
    'ECDSA-P256',
    'ECDSA-P384',
    'RSA-2048',
    'RSA-3072',
    'RSA-4096',
    'Ed25519',
  ]
  for (const algorithm of algorithms)
    test(`openssl verifies what an ${algorithm} CA key in a token signs`, async () => {
      await generateKeyInToken(token, algorithm, algorithm)
      const signer = await openPkcs11Signer(optionsOf(hsm.uri(`token=signing;object=${algorithm}`)))
      const now = Date.now()
      const times = { notBefore: now - 60_000, notAfter: now + 3_600_000 }
      const pem = await selfSignedCa({ commonName: 'kubernetes', signer, random: systemRandom, ...times })
      signer.close()
      const file = join(hsm.folder, `${algorithm}.crt`)
      writeFileSync(file, pem)
      const { status, text } = openssl(['verify', '-check_ss_sig', '-CAfile', file, file])
      assert.equal(status, 0, text)
    })

  test('a hundred signatures at a time share four sessions and are all right', async () => {
    const signer = await signerInToken(token, { object: 'ECDSA-P256' })
    const key = { spki: signer.publicKey, keyType: parsePublicKey(signer.publicKey).type }
    const all = await Promise.all(
      Array.from({ length: 100 }, async (_, at) => {
        const tbs = Buffer.from(`number ${at}`)
        return { tbs, signature: await signer.sign(tbs), signatureAlgorithm: signer.algorithm }
      }),
    )
    for (const signed of all) assert.deepEqual(checkSignature(signed, key), { ok: true })
  })

  test('a token that was pulled is named, and the next signature after it is back is made', async () => {
    const signer = await signerInToken(token, { object: 'ECDSA-P256' })
    await signer.sign(tbs)
    hsm.pull()
    await assert.rejects(signer.sign(tbs), fails('TOKEN_ABSENT'))
    hsm.putBack()
    await assert.rejects(signer.sign(tbs), fails('TOKEN_ABSENT'), 'the module is reloaded every 5 s at most')
    await clock.advance(5_000)
    const key = { spki: signer.publicKey, keyType: 'P-256' }
    const signature = await signer.sign(tbs)
    assert.deepEqual(checkSignature({ tbs, signature, signatureAlgorithm: signer.algorithm }, key), {
      ok: true,
    })
  })

  test('what waits for a session when the token is lost is signed on the next connection', async () => {
    const signer = await signerInToken(token, { object: 'ECDSA-P256' })
    const key = { spki: signer.publicKey, keyType: 'P-256' }
    await clock.advance(5_000)
    const cryptoki = await load(softHsmModule)
    const many = Array.from({ length: 50 }, () => signer.sign(tbs))
    await cryptoki.reload()
    for (const signature of await Promise.all([...many, signer.sign(tbs)]))
      assert.ok(checkSignature({ tbs, signature, signatureAlgorithm: signer.algorithm }, key).ok)
  })

  test('a token that does not answer fails a signature after 30 s and holds up nobody for longer', async () => {
    const silent: LoadCryptoki = async path =>
      Object.create(await load(path), { sign: { value: () => new Promise(() => {}) } })
    const stuck = openToken({ ...optionsOf(hsm.uri('token=signing')), load: silent, sessions: 1 })
    const signer = await signerInToken(stuck, { object: 'ECDSA-P256' })
    const two = Promise.allSettled([signer.sign(tbs), signer.sign(tbs)])
    await clock.advance(30_000)
    for (const result of await two)
      assert.ok(
        result.status === 'rejected' &&
          hasCode(result.reason, 'TOKEN_FAILED') &&
          /30 s/.test(result.reason.message),
      )
    stuck.close()
    assert.equal(clock.pending(), 0)
  })

  test('a key that was destroyed, and one put in its place, are told apart', async () => {
    await generateKeyInToken(token, 'short', 'ECDSA-P256')
    const signer = await signerInToken(token, { object: 'short' })
    await destroyKey(token, 'short')
    assert.ok(!(await keyLabels(token)).includes('short'))
    await assert.rejects(signer.sign(tbs), fails('TOKEN_KEY_ABSENT'))
    await generateKeyInToken(token, 'short', 'ECDSA-P256')
    await assert.rejects(signer.sign(tbs), fails('KEY_MISMATCH'))
  })

  test('what is not there is named: module, token, key, PIN file; two keys that fit are not guessed between', async () => {
    const refused = (uri: string, code: ErrorCode) =>
      assert.rejects(openPkcs11Signer(optionsOf(uri)), fails(code), uri)
    await refused('pkcs11:token=signing', 'KEY_URI_INVALID')
    await refused('pkcs11:token=signing?module-path=/nowhere.so', 'PKCS11_UNAVAILABLE')
    await refused(hsm.uri('token=another;object=x'), 'TOKEN_ABSENT')
    await refused(hsm.uri('token=signing;object=x'), 'TOKEN_KEY_ABSENT')
    await refused(hsm.uri('token=signing'), 'KEY_URI_INVALID')
    const bare = `pkcs11:token=signing?module-path=${softHsmModule}`
    await refused(bare, 'KEY_URI_INVALID')
    await refused(`${bare}&pin-source=/nowhere`, 'PIN_UNREADABLE')
    chmodSync(hsm.pinFile, 0o644)
    await refused(hsm.uri('token=signing;object=ECDSA-P256'), 'PIN_UNREADABLE')
    chmodSync(hsm.pinFile, 0o600)
  })
})
