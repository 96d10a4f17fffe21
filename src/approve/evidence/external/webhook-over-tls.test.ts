import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../../keys/secret.ts'
import { connectUndici } from '../../../kube/undici-transport.ts'
import { foreignPair, listenHttps } from '../../../testing/https-server.ts'
import { webhookSource, webhookTransport } from './webhook-source.ts'

test('a webhook is verified by its own authority and sees its token; one that talks without end is cut off', async () => {
  const [pair, other] = await Promise.all([foreignPair('cmdb'), foreignPair('other')])
  let written = 0
  const server = await listenHttps({ cert: pair.certificate, key: pair.key }, (request, response) => {
    const node = new URL(request.url ?? '', 'https://x').searchParams.get('node')
    if (request.headers.authorization !== 'Bearer abc') return response.writeHead(401).end()
    if (node === 'a') return response.end('{"addresses":["10.0.0.1"]}')
    const block = Buffer.alloc(64 * 1024, 'x')
    const more = () => {
      while (!response.destroyed && written < 1_000_000_000) {
        written += block.length
        if (!response.write(block)) return response.once('drain', more)
      }
    }
    more()
  })
  const source = (certificateAuthority: string) => {
    const url = `${server.url}/nodes`
    const readBearerToken = async () => new Secret('abc')
    const transport = webhookTransport(connectUndici, url, { certificateAuthority, readBearerToken })
    return { transport, source: webhookSource({ name: 'cmdb', timeout: 5_000, url, transport }) }
  }
  const [trusted, distrusted] = [source(pair.certificate), source(other.certificate)]
  const { signal } = new AbortController()
  try {
    const answer = await trusted.source.ask('a', signal)
    assert.equal(Buffer.from(answer ?? '').toString(), '{"addresses":["10.0.0.1"]}')
    await assert.rejects(trusted.source.ask('endless', signal), /longer than 65536 bytes/)
    assert.ok(written < 100_000_000)
    await assert.rejects(distrusted.source.ask('a', signal), error => {
      assert.doesNotMatch(String(error), /abc/)
      return true
    })
  } finally {
    trusted.transport.closeConnections()
    distrusted.transport.closeConnections()
    await server.stop()
  }
})
