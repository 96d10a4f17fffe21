import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Gauge, Registry } from 'prom-client'
import { hasCode } from '../errors.ts'
import { listenAddress, serveMetrics } from './serve-metrics.ts'

test('an address to listen on is an IP address and a port', () => {
  assert.deepEqual(listenAddress('127.0.0.1:9108'), { host: '127.0.0.1', port: 9108 })
  assert.deepEqual(listenAddress('[::1]:0'), { host: '::1', port: 0 })
  for (const text of ['9108', ':9108', 'localhost:9108', '127.0.0.1', '127.0.0.1:70000', '::1:9108', ''])
    assert.throws(() => listenAddress(text), /ADDRESS:PORT/, text)
})

test('GET /metrics gives the page, anything else nothing; a port that is taken is said to be', async t => {
  const registry = new Registry()
  new Gauge({ name: 'answer', help: 'The answer.', registers: [registry] }).set(42)
  const { url, close } = await serveMetrics({ host: '127.0.0.1', port: 0 }, registry)
  t.after(close)
  const answer = await fetch(url)
  assert.match(answer.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  assert.match(await answer.text(), /^answer 42$/m)
  assert.equal((await fetch(new URL('/', url))).status, 404)
  assert.equal((await fetch(url, { method: 'POST' })).status, 405)
  const port = Number(new URL(url).port)
  await assert.rejects(serveMetrics({ host: '127.0.0.1', port }, registry), error =>
    hasCode(error, 'PORT_IN_USE'),
  )
})
