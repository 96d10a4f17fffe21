import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { keyDoors } from '../src/cli/key-doors.ts'
import { systemRandom } from '../src/host/random.ts'
import { parseKeyReference } from '../src/keys/key-reference.ts'
import { openKey } from '../src/keys/open-key.ts'
import { generateSigner, type KeyAlgorithm } from '../src/keys/private-key.ts'
import { selfSignedCa } from '../src/keys/self-signed.ts'
import { openssl } from '../src/testing/openssl.ts'
import { temporaryFolder } from './support/rollcall-process.ts'

const example = fileURLToPath(new URL('../examples/external-signer/signer.mjs', import.meta.url))

test('examples/external-signer/signer.mjs signs what openssl verifies, with a key of each kind', async t => {
  const { path, remove } = temporaryFolder()
  const algorithms: KeyAlgorithm[] = ['ECDSA-P256', 'ECDSA-P384', 'RSA-2048', 'Ed25519']
  const socket = join(path, 'signer.sock')
  const keys = algorithms.map(algorithm => {
    const file = join(path, `${algorithm}.pem`)
    writeFileSync(file, generateSigner(algorithm, systemRandom).exportPem().reveal(), { mode: 0o600 })
    return `${algorithm}=${file}`
  })
  const server = spawn(process.execPath, [example, socket, ...keys], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(async () => {
    server.kill()
    if (server.exitCode === null) await once(server, 'exit')
    remove()
  })
  await once(server.stdout, 'data')
  for (const algorithm of algorithms) {
    const { signer } = await openKey(parseKeyReference(`unix:${socket}?key=${algorithm}`), keyDoors())
    const now = Date.now()
    const times = { notBefore: now - 60_000, notAfter: now + 3_600_000 }
    const pem = await selfSignedCa({ commonName: 'kubernetes', signer, random: systemRandom, ...times })
    const file = join(path, `${algorithm}.crt`)
    writeFileSync(file, pem)
    const { status, text } = openssl(['verify', '-check_ss_sig', '-CAfile', file, file])
    assert.equal(status, 0, text)
  }
})
