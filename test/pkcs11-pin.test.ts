import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, suite, test } from 'node:test'
import { inspect } from 'node:util'
import { type ErrorCode, hasCode } from '../src/errors.ts'
import { systemDisk } from '../src/host/disk.ts'
import { cryptokiLoader } from '../src/host/pkcs11.ts'
import { type Cryptoki, ckf, type LoadCryptoki } from '../src/keys/pkcs11/cryptoki.ts'
import { keyLabels } from '../src/keys/pkcs11/generate-key.ts'
import { openToken } from '../src/keys/pkcs11/token.ts'
import { parsePkcs11Uri } from '../src/keys/pkcs11/uri.ts'
import { createManualClock } from '../src/testing/manual-clock.ts'
import { softHsm, whyNoSoftHsm } from './support/softhsm.ts'

const pin = '97531864'
/** SoftHSM never locks: these bits stand for what other tokens would show. */
let extraFlags = 0
let logins = 0

/** The real module; its logins are counted. */
function counting(load: LoadCryptoki): LoadCryptoki {
  let counted: Cryptoki | undefined
  return async path => {
    const real = await load(path)
    counted ??= Object.create(real, {
      login: {
        value: (...order: Parameters<Cryptoki['login']>) => {
          logins++
          real.login(...order)
        },
      },
      tokenInfo: {
        value: (slot: Uint8Array) => {
          const info = real.tokenInfo(slot)
          return { ...info, flags: info.flags | extraFlags }
        },
      },
    })
    return counted as Cryptoki
  }
}

suite('PINs', { skip: whyNoSoftHsm() }, () => {
  const hsm = softHsm('pins', pin)
  process.env.SOFTHSM2_CONF = hsm.environment.SOFTHSM2_CONF
  after(() => hsm.remove())
  const load = counting(cryptokiLoader())
  const clock = createManualClock(Date.UTC(2031, 0))
  const open = () => openToken({ uri: parsePkcs11Uri(hsm.uri('token=pins')), load, disk: systemDisk, clock })
  const setPin = (value: string) => writeFileSync(hsm.pinFile, `${value}\n`)
  const token = open()
  after(() => token.close())
  const refused = (code: ErrorCode, more = token) =>
    assert.rejects(keyLabels(more), error => hasCode(error, code) && !/9999|9753/.test(inspect(error)))

  test('a wrong PIN is tried once by all who use the token, until the PIN file holds another', async () => {
    setPin('99990001')
    const another = open()
    for (let attempt = 0; attempt < 5; attempt++) {
      await refused('PIN_WRONG')
      await refused('PIN_WRONG', another)
      await clock.advance(60_000)
    }
    assert.equal(logins, 1)
    setPin('99990002')
    await refused('PIN_WRONG')
    await refused('PIN_WRONG')
    assert.equal(logins, 2)
    another.close()
  })

  test('where one more wrong PIN would lock the token, none is tried; nor where it is locked', async () => {
    setPin(pin)
    const before = logins
    extraFlags = ckf.userPinCountLow | ckf.userPinFinalTry
    await refused('PIN_LAST_TRY')
    extraFlags = ckf.userPinLocked
    await refused('PIN_LOCKED')
    assert.equal(logins, before)
    extraFlags = ckf.userPinCountLow
    assert.deepEqual(await keyLabels(token), [])
    assert.equal(logins, before + 1)
  })
})
