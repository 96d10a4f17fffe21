import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { type ErrorCode, hasCode } from '../errors.ts'
import { systemDisk } from '../host/disk.ts'
import { systemNet } from '../host/net.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { checkSignature } from '../x509/signature.ts'
import { generateSigner } from './private-key.ts'
import { openRemoteSigner } from './remote-signer.ts'

const signer = generateSigner('ECDSA-P256', seededRandom(1))
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const tbs = Buffer.from('to be signed')

interface Answer {
  status?: number
  body: unknown
}

async function onSigner(
  answer: (method: string, asked: { algorithm?: string; data?: string }) => Promise<Answer> | Answer,
  run: (open: () => ReturnType<typeof openRemoteSigner>, folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-signer-'))
  const socket = join(folder, 'signer.sock')
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    assert.match(request.url ?? '', /^\/v1\/keys\/ca(\/sign)?$/)
    const asked = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : {}
    const { status = 200, body } = await answer(request.method ?? '', asked)
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const clock = createManualClock(0)
  try {
    await new Promise<void>(resolve => server.listen(socket, resolve))
    const options = { socket, key: 'ca', net: systemNet, disk: systemDisk, clock, owners: [] }
    await run(() => openRemoteSigner(options), folder)
    assert.equal(clock.pending(), 0)
  } finally {
    await new Promise(resolve => server.close(resolve))
    rmSync(folder, { recursive: true })
  }
}

const described = { body: { publicKey: base64(signer.publicKey) } }
const keyFingerprint = sha256Hex(signer.publicKey)
const signed = async (data = '') => ({
  body: { keyFingerprint, signature: base64(await signer.sign(Buffer.from(data, 'base64'))) },
})

test('an external signer tells its public key once and signs whole structures', () =>
  onSigner(
    (method, { algorithm, data }) => {
      if (method === 'GET') return described
      assert.equal(algorithm, 'ecdsa-with-SHA256')
      return signed(data)
    },
    async open => {
      const remote = await open()
      const key = { spki: remote.publicKey, keyType: 'P-256' }
      const signature = await remote.sign(tbs)
      assert.deepEqual(checkSignature({ tbs, signature, signatureAlgorithm: remote.algorithm }, key), {
        ok: true,
      })
    },
  ))

test('answers that are none, refusals and a replaced key are errors that say so', async () => {
  const cases: [Answer, ErrorCode, RegExp][] = [
    [{ body: 'ok' }, 'SIGNER_UNREACHABLE', /HTTP 200/],
    [{ body: 'x'.repeat(100_000) }, 'SIGNER_UNREACHABLE', /HTTP 200/],
    [{ body: { keyFingerprint, signature: 'not base64!' } }, 'SIGNER_UNREACHABLE', /no signature in base64/],
    [{ body: { keyFingerprint: '00', signature: 'AAAA' } }, 'KEY_MISMATCH', /another key/],
    [
      { status: 503, body: { code: 'LOCKED', message: 'PIN locked' } },
      'SIGNER_UNREACHABLE',
      /LOCKED: PIN locked/,
    ],
    [{ status: 404, body: { code: 'KEY_NOT_FOUND' } }, 'TOKEN_KEY_ABSENT', /"ca"/],
  ]
  for (const [answer, code, why] of cases)
    await onSigner(
      method => (method === 'GET' ? described : answer),
      async open => {
        const remote = await open()
        await assert.rejects(remote.sign(tbs), error => hasCode(error, code) && why.test(error.message))
      },
    )
})

test('a socket in a folder that others may write to is not asked', () =>
  onSigner(
    () => assert.fail('asked'),
    async (open, folder) => {
      chmodSync(folder, 0o777)
      await assert.rejects(
        open(),
        error => hasCode(error, 'SIGNER_UNREACHABLE') && /written by others/.test(error.message),
      )
    },
  ))
