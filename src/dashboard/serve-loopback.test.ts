import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { systemClock } from '../host/clock.ts'
import { silentLog } from '../ports.ts'
import { answerJson } from './answers.ts'
import { type RunningLoopback, serveLoopback } from './serve-loopback.ts'

const base = { clock: systemClock, log: silentLog, port: 0 }
const echo = {
  dashboard: {
    handle: async ({ method, url, body }: { method: string; url: string; body?: Uint8Array }) =>
      answerJson(200, { method, url, bytes: body?.length ?? 0 }),
  },
}

const onLoopback = (run: (running: RunningLoopback, url: string) => Promise<void>) => async () => {
  const running = await serveLoopback({ ...base, ...echo })
  try {
    await run(running, `http://127.0.0.1:${running.port}/dashboard/x`)
  } finally {
    await running.close()
  }
}

test(
  'requests come to the dashboard with their body, and one that is too long is refused with all headers',
  onLoopback(async (_, url) => {
    const told = await fetch(url, { method: 'POST', body: 'x'.repeat(1000) })
    assert.deepEqual(await told.json(), { method: 'POST', url: '/dashboard/x', bytes: 1000 })
    const refused = await fetch(url, { method: 'POST', body: 'x'.repeat(70_000) })
    assert.equal(refused.status, 413)
    assert.match(refused.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    await refused.arrayBuffer()
  }),
)

test(
  'a port that is taken is said to be, with what to do',
  onLoopback(async ({ port }) => {
    await assert.rejects(serveLoopback({ ...base, ...echo, port }), error => {
      assert.ok(hasCode(error, 'PORT_IN_USE'))
      return /--dashboard-port/.test(error.message)
    })
  }),
)
