import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { systemDisk } from '../../host/disk.ts'
import { systemNet } from '../../host/net.ts'
import { serveSocket } from './serve-socket.ts'

test('a socket that a dead agent left is replaced, one that an agent serves is not', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-socket-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'agent.sock')
  // It listens and is killed, so that the socket stays.
  const script = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  spawnSync(process.execPath, ['-e', script])
  assert.ok(existsSync(path))
  const options = { path, disk: systemDisk, answer: async () => ({ status: 200, body: '{}' }) }
  const server = await serveSocket(options)
  await assert.rejects(serveSocket(options), error => hasCode(error, 'SOCKET_UNUSABLE'))
  const signal = new AbortController().signal
  const order = { method: 'GET', url: 'http://agent/', socketPath: path, signal, mostBody: 100 }
  assert.deepEqual(await systemNet.http(order), { status: 200, body: '{}' })
  await server.close()
})
