import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, suite, test } from 'node:test'
import { inspect } from 'node:util'
import { hostPorts } from '../src/cluster/host-ports.ts'
import { tokenTlsStarter } from '../src/cluster/token-tls-child.ts'
import { hasCode } from '../src/errors.ts'
import { cryptokiLoader } from '../src/host/pkcs11.ts'
import { generateKeyInToken } from '../src/keys/pkcs11/generate-key.ts'
import { signerInToken } from '../src/keys/pkcs11/pkcs11-signer.ts'
import { openToken } from '../src/keys/pkcs11/token.ts'
import { formatPkcs11Uri, parsePkcs11Uri } from '../src/keys/pkcs11/uri.ts'
import { selfSignedCa } from '../src/keys/self-signed.ts'
import { recordingLog } from '../src/testing/recording-log.ts'
import { softHsm, whyNoSoftHsm, whyNoTokenTls } from './support/softhsm.ts'

suite('TLS with a key in a token', { skip: whyNoSoftHsm() || whyNoTokenTls() }, () => {
  const hsm = softHsm('tls', '86427531')
  process.env.SOFTHSM2_CONF = hsm.environment.SOFTHSM2_CONF
  after(() => hsm.remove())

  test('a PIN that its process was refused with is not given to another one, and is in no log and no error', async () => {
    const uri = parsePkcs11Uri(hsm.uri('token=tls'))
    const token = openToken({ ...hostPorts, uri, load: cryptokiLoader() })
    const id = await generateKeyInToken(token, 'key', 'ECDSA-P256')
    const signer = await signerInToken(token, { id })
    const now = Date.now()
    const times = { notBefore: now - 60_000, notAfter: now + 3_600_000 }
    const certificate = await selfSignedCa({ commonName: 'n1', signer, random: hostPorts.random, ...times })
    token.close()

    const log = recordingLog()
    const start = tokenTlsStarter(log)
    const order = { server: 'https://127.0.0.1:1', certificate, key: formatPkcs11Uri({ ...uri, id }) }
    writeFileSync(hsm.pinFile, '99990001\n')
    const refused = (what: RegExp) => (error: unknown) =>
      hasCode(error, 'PIN_WRONG') && what.test(error.message) && !inspect(error).includes('99990001')
    await assert.rejects(start(order), refused(/OpenSSL/))
    await assert.rejects(start(order), refused(/not tried again/))
    assert.ok(!inspect([log.lines, log.fields], { depth: 9 }).includes('99990001'))

    writeFileSync(hsm.pinFile, '86427531\n')
    const tls = await start(order)
    assert.equal(tls.ended, false)
    tls.stop()
  })
})
