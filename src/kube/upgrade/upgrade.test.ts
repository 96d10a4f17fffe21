import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { describe, test } from 'node:test'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { splice } from './splice.ts'
import { bringsBody, switchingProtocols, upgradeRequestHeaders, wantedUpgrade } from './upgrade-headers.ts'

const minute = 60_000

describe('an upgrade that is passed on', () => {
  test('is one to WebSocket or SPDY/3.1, asked for by both headers', () => {
    assert.equal(wantedUpgrade({ connection: 'keep-alive, Upgrade', upgrade: 'WebSocket' }), 'websocket')
    assert.equal(wantedUpgrade({ connection: 'upgrade', upgrade: 'SPDY/3.1' }), 'SPDY/3.1')
    for (const headers of [
      { upgrade: 'websocket' },
      { connection: 'close', upgrade: 'websocket' },
      { connection: 'upgrade', upgrade: 'h2c' },
      { connection: 'upgrade', upgrade: 'websocket, h2c' },
    ])
      assert.equal(wantedUpgrade(headers), undefined)
  })

  test('takes the handshake along and nothing else', () => {
    const headers = {
      connection: 'Upgrade',
      upgrade: 'SPDY/3.1',
      authorization: 'Bearer secret',
      cookie: 'a=b',
      'x-stream-protocol-version': 'v4.channel.k8s.io, v3.channel.k8s.io',
      'impersonate-user': 'admin',
    }
    assert.deepEqual(upgradeRequestHeaders(headers), {
      connection: 'Upgrade',
      upgrade: 'SPDY/3.1',
      'x-stream-protocol-version': ['v4.channel.k8s.io', 'v3.channel.k8s.io'],
    })
    assert.equal(
      switchingProtocols('SPDY/3.1', {
        'x-stream-protocol-version': 'v4.channel.k8s.io',
        'set-cookie': ['a=b'],
      }),
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nx-stream-protocol-version: v4.channel.k8s.io\r\n\r\n',
    )
    assert.equal(bringsBody({ 'content-length': '0' }), false)
    assert.equal(bringsBody({ 'content-length': '00' }), true)
  })

  test('attack: a token among the subprotocols, as browsers send theirs, goes no further', () => {
    const named = 'base64url.bearer.authorization.k8s.io.c2VjcmV0, v5.channel.k8s.io,v4.channel.k8s.io'
    const headers = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-protocol': named }
    assert.equal(
      upgradeRequestHeaders(headers)['sec-websocket-protocol'],
      'v5.channel.k8s.io, v4.channel.k8s.io',
    )
  })

  test('passes bytes both ways and ends with either side', async () => {
    const clock = createManualClock(0)
    const [client, left] = duplexPair()
    const [right, kubelet] = duplexPair()
    splice(left, right, clock)
    kubelet.on('data', chunk => kubelet.end(`<${chunk}>`))
    client.write('ping')
    const chunks: Buffer[] = []
    for await (const chunk of client) chunks.push(chunk as Buffer)
    assert.equal(Buffer.concat(chunks).toString(), '<ping>')
    for (let turn = 0; turn < 20; turn++) await settle()
    await clock.advance(1000)
    assert.ok(left.destroyed && right.destroyed)
    assert.equal(clock.pending(), 0)
  })

  test('is closed after hours of silence, not while anything comes', async () => {
    const clock = createManualClock(0)
    const [client, left] = duplexPair()
    const [right, kubelet] = duplexPair()
    kubelet.resume()
    splice(left, right, clock, 10 * minute)
    for (let passed = 0; passed < 30; passed++) {
      client.write('.')
      for (let turn = 0; turn < 5; turn++) await settle()
      await clock.advance(minute)
    }
    assert.equal(left.destroyed, false)
    await clock.advance(11 * minute)
    assert.ok(left.destroyed && right.destroyed)
    assert.equal(clock.pending(), 0)
  })
})
