import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemDisk } from '../host/disk.ts'
import { systemNet } from '../host/net.ts'
import type { Disk } from '../ports.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import type { AcquireContext } from './credential-sources.ts'
import { type PluginSourceOptions, pluginSource } from './plugin-source.ts'

const context: AcquireContext = { reason: 'expired', nodeName: 'node-a' }
const owners = [process.getuid?.() ?? 0]

/** A plugin on a real socket that gives these answers in turn. */
async function onPlugin(
  answers: [status: number, body: string][],
  run: (plugin: {
    folder: string
    socket: string
    asked: unknown[]
    acquire(changes?: Partial<PluginSourceOptions>): Promise<string>
  }) => Promise<void>,
) {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-plugin-'))
  const socket = join(folder, 'plugin.sock')
  const asked: unknown[] = []
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    asked.push({ method: request.method, url: request.url, ...JSON.parse(Buffer.concat(chunks).toString()) })
    const [status, body] = answers.shift() ?? [500, '']
    response.writeHead(status).end(body)
  })
  const clock = createManualClock(Date.parse('2026-05-01T00:00:00Z'))
  const acquire = async (changes: Partial<PluginSourceOptions> = {}) => {
    const options = {
      socket,
      owners,
      net: systemNet,
      disk: systemDisk,
      clock,
      endpoint: async () => undefined,
      ...changes,
    }
    const acquired = await pluginSource(options).acquire(context)
    if (!acquired.ok) return `${acquired.reason}: ${acquired.message}`
    const { server, certificateAuthority, bearerToken, clientCertificate } = acquired.credential.connection
    return [server, certificateAuthority, bearerToken?.reveal(), clientCertificate?.certificate].join(' ')
  }
  try {
    await new Promise<void>(resolve => server.listen(socket, resolve))
    await run({ folder, socket, asked, acquire })
    assert.equal(clock.pending(), 0)
  } finally {
    await new Promise(resolve => server.close(resolve))
    rmSync(folder, { recursive: true })
  }
}
const json = (value: unknown) => JSON.stringify(value)

test('the plugin is told why and for whom, and gives the credential and where it is for', async () => {
  const authority = Buffer.from('PEM').toString('base64')
  const cluster = { server: 'https://192.0.2.9:6443', 'certificate-authority-data': authority }
  const answers: [number, string][] = [
    [200, json({ token: 'T', cluster })],
    [200, json({ clientCertificateData: 'C', clientKeyData: 'K' })],
    [200, json({ token: 'T' })],
  ]
  await onPlugin(answers, async ({ acquire, asked }) => {
    assert.equal(await acquire(), 'https://192.0.2.9:6443 PEM T ')
    const endpoint = async () => ({ server: 'https://192.0.2.1:6443', certificateAuthority: 'CA' })
    assert.equal(await acquire({ endpoint }), 'https://192.0.2.1:6443 CA  C')
    assert.equal(await acquire(), 'NoCredential: neither the plugin nor a kubeconfig names an API server')
    const request = {
      method: 'POST',
      url: '/v1/credential',
      apiVersion: 'plugin.rollcall.dev/v1',
      reason: 'expired',
      nodeName: 'node-a',
    }
    assert.deepEqual(asked, [request, { ...request, cluster: { server: 'https://192.0.2.1:6443' } }, request])
  })
})

test('what is not there yet is waited for, what is wrong says so, and no answer is shown', async () => {
  const answers: [number, string][] = [
    [503, json({ code: 'NOT_READY', message: 'HSM is starting' })],
    [403, json({ code: 'LOCKED', message: 'PIN is locked' })],
    [500, 's3cret'],
    [200, json({ token: 's3cret', expirationTimestamp: '2020-01-01T00:00:00Z' })],
    [200, '[]'],
    [200, 's3cret'],
  ]
  await onPlugin(answers, async ({ acquire, socket, folder }) => {
    assert.equal(await acquire(), 'Waiting: the plugin answered NOT_READY: HSM is starting')
    assert.equal(await acquire(), 'NoCredential: the plugin answered LOCKED: PIN is locked')
    assert.equal(await acquire(), 'NoCredential: the plugin answered HTTP 500')
    assert.equal(
      await acquire(),
      'Invalid: the plugin gave a credential that expired at 2020-01-01T00:00:00.000Z',
    )
    for (const _ of ['a list', 'no JSON'])
      assert.equal(await acquire(), 'Invalid: the plugin gave neither a token nor a certificate with its key')
    assert.equal(
      await acquire({ socket: join(folder, 'later.sock') }),
      `Waiting: ${join(folder, 'later.sock')} is not there yet`,
    )
    assert.equal(
      await acquire({ whyNotReady: () => 'the static pod a/b is not ready yet' }),
      'Waiting: the static pod a/b is not ready yet',
    )
    assert.equal(await acquire({ socket: 'relative.sock' }), 'Unreadable: is no plain absolute path')
    assert.match(await acquire({ socket: `${folder}/../${socket}` }), /is no plain absolute path/)
  })
})

test('a plugin that hangs is not waited for longer than its time limit', async () => {
  await onPlugin([], async ({ acquire }) => {
    const clock = createManualClock(0)
    const net = {
      ...systemNet,
      http: ({ signal }: { signal: AbortSignal }) => {
        const hanging = new Promise<never>((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        )
        void clock.advance(5000)
        return hanging
      },
    }
    assert.equal(await acquire({ net, clock, timeoutSeconds: 5 }), 'Waiting: no answer within 5 s')
  })
})

test('a socket that others could replace is refused: writable folder, foreign owner, symlink, no socket', async () => {
  await onPlugin([], async ({ acquire, folder }) => {
    chmodSync(folder, 0o770)
    assert.equal(await acquire(), `Unreadable: ${folder} can be written by others than its owner`)
    chmodSync(folder, 0o700)
    const foreign: Disk = {
      ...systemDisk,
      stat: async path => ({ ...(await systemDisk.stat(path)), ...(path === folder && { owner: 12_345 }) }),
    }
    assert.equal(await acquire({ disk: foreign }), `Unreadable: ${folder} belongs to user 12345`)
    symlinkSync(folder, join(folder, 'link'))
    assert.match(
      await acquire({ socket: join(folder, 'link/plugin.sock') }),
      /link is a symlink; give the path it leads to/,
    )
    writeFileSync(join(folder, 'file'), '')
    assert.match(await acquire({ socket: join(folder, 'file') }), /file is no socket but a file/)
    mkdirSync(join(folder, 'open'))
    chmodSync(join(folder, 'open'), 0o777)
    assert.match(await acquire({ socket: join(folder, 'open/a.sock') }), /open can be written by others/)
  })
})
