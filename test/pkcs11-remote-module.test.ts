import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { after, suite, test } from 'node:test'
import { RollcallError } from '../src/errors.ts'
import { systemDisk } from '../src/host/disk.ts'
import { cryptokiLoader } from '../src/host/pkcs11.ts'
import { generateKeyInToken } from '../src/keys/pkcs11/generate-key.ts'
import { signerInToken } from '../src/keys/pkcs11/pkcs11-signer.ts'
import { openToken } from '../src/keys/pkcs11/token.ts'
import { parsePkcs11Uri } from '../src/keys/pkcs11/uri.ts'
import { createManualClock } from '../src/testing/manual-clock.ts'
import { checkSignature } from '../src/x509/signature.ts'
import { descendants } from './support/processes.ts'
import { softHsm, softHsmModule, whyNoSoftHsm, whyNoTokenTls } from './support/softhsm.ts'

suite('a token behind p11-kit, in another process', { skip: whyNoSoftHsm() || whyNoTokenTls() }, () => {
  const hsm = softHsm('remote')
  const socket = join(hsm.folder, 'p11.sock')
  let server: ChildProcess | undefined
  after(async () => {
    await stopServer()
    hsm.remove()
  })

  async function startServer(): Promise<void> {
    const args = ['server', '-f', '-n', socket, '--provider', softHsmModule, 'pkcs11:']
    server = spawn('p11-kit', args, {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { ...process.env, ...hsm.environment },
    })
    assert.ok(server.stdout)
    await once(server.stdout, 'data')
  }
  /** Its connections too, which it would leave running. */
  async function stopServer(): Promise<void> {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const connections = descendants(server.pid ?? 0)
    server.kill()
    await once(server, 'exit')
    for (const processId of connections) process.kill(processId)
  }

  test('its server may crash: the next signature after it runs again is made', async () => {
    await startServer()
    process.env.P11_KIT_SERVER_ADDRESS = `unix:path=${socket}`
    const [module = ''] = globSync('/usr/lib/*/pkcs11/p11-kit-client.so')
    const uri = { ...parsePkcs11Uri(hsm.uri('token=remote')), modulePath: module }
    const clock = createManualClock(Date.UTC(2031, 0))
    const token = openToken({ uri, load: cryptokiLoader(), disk: systemDisk, clock })
    const signer = await signerInToken(token, { id: await generateKeyInToken(token, 'key', 'ECDSA-P256') })
    const tbs = Buffer.from('to be signed')
    await signer.sign(tbs)
    await stopServer()
    await assert.rejects(signer.sign(tbs), RollcallError)
    await startServer()
    await clock.advance(5_000)
    const signature = await signer.sign(tbs)
    const signed = { tbs, signature, signatureAlgorithm: signer.algorithm }
    assert.deepEqual(checkSignature(signed, { spki: signer.publicKey, keyType: 'P-256' }), { ok: true })
    token.close()
  })
})
