import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect as connectTcp } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { inspect } from 'node:util'
import { hasCode } from '../errors.ts'
import { Secret } from '../keys/secret.ts'
import { type ForeignPair, foreignPair, listenHttps, type TestServer } from '../testing/https-server.ts'
import { connectHttps } from './https-transport.ts'
import type { ApiResponse, ConnectionConfig, Transport } from './transport.ts'
import { connectUndici } from './undici-transport.ts'

let identity: ForeignPair
let client: ForeignPair
const cleanups: (() => unknown)[] = []

before(async () => {
  identity = await foreignPair('server')
  client = await foreignPair('client')
})
after(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup()
})

async function start(handler: RequestListener): Promise<TestServer> {
  const server = await listenHttps(
    {
      cert: identity.certificate,
      key: identity.key,
      ca: client.certificate,
      requestCert: true,
      rejectUnauthorized: false,
    },
    handler,
  )
  cleanups.push(() => server.stop())
  return server
}

for (const [name, connectTo] of [
  ['undici', connectUndici],
  ['node:https', connectHttps],
] as const)
  describe(`a connection to an API over ${name}`, () => {
    function connect(server: string, more: Partial<ConnectionConfig> = {}): Transport {
      const transport = connectTo({ server, certificateAuthority: identity.certificate, ...more })
      cleanups.push(() => transport.closeConnections())
      return transport
    }

    const ask = (transport: Transport, url: string, signal?: AbortSignal): Promise<ApiResponse> =>
      transport.request({ method: 'GET', url, headers: {}, ...(signal && { signal }) })

    function whole({ body }: ApiResponse): string {
      assert.ok(body instanceof Uint8Array)
      return new TextDecoder().decode(body)
    }

    function stream({ body }: ApiResponse): AsyncIterable<Uint8Array> {
      assert.ok(!(body instanceof Uint8Array))
      return body
    }

    test('a request carries path, headers and body, and presents certificate and token', async () => {
      const server = await start((request, response) => {
        const peer = (request.socket as TLSSocket).getPeerCertificate()
        request
          .setEncoding('utf8')
          .on('data', body =>
            response
              .writeHead(201, { 'x-seen': 'yes' })
              .end(
                JSON.stringify([
                  request.method,
                  request.url,
                  request.headers.authorization,
                  request.headers['x-a'],
                  body,
                  peer.subject.CN,
                ]),
              ),
          )
      })
      const transport = connect(`${server.url}/prefix/`, {
        bearerToken: new Secret('abc'),
        clientCertificate: { certificate: client.certificate, key: new Secret(client.key) },
      })
      const response = await transport.request({
        method: 'POST',
        url: '/api/v1/nodes?limit=1',
        headers: { 'x-a': 'b' },
        body: new TextEncoder().encode('hello'),
      })
      assert.equal(response.status, 201)
      assert.equal(response.headers['x-seen'], 'yes')
      assert.deepEqual(JSON.parse(whole(response)), [
        'POST',
        '/prefix/api/v1/nodes?limit=1',
        'Bearer abc',
        'b',
        'hello',
        'client',
      ])
    })

    test('a token that is read before each request follows the file', async () => {
      const server = await start((request, response) => response.end(request.headers.authorization))
      let token = 'first'
      const transport = connect(server.url, { readBearerToken: async () => new Secret(token) })
      assert.equal(whole(await ask(transport, '/')), 'Bearer first')
      token = 'second'
      assert.equal(whole(await ask(transport, '/')), 'Bearer second')
    })

    test('an HTTP error status is an answer', async () => {
      const server = await start((_, response) => response.writeHead(503).end('later'))
      const response = await ask(connect(server.url), '/readyz')
      assert.equal(response.status, 503)
      assert.equal(whole(response), 'later')
    })

    test('a watch gives its chunks while the server is still writing and ends with the server', async () => {
      const server = await start((request, response) => {
        response.writeHead(200).flushHeaders()
        request.socket.once('data', () => {})
        response.write('one')
        server.server.once('go on', () => response.end('two'))
      })
      const chunks: string[] = []
      for await (const chunk of stream(await ask(connect(server.url), '/api/v1/nodes?watch=true'))) {
        chunks.push(new TextDecoder().decode(chunk))
        server.server.emit('go on')
      }
      assert.deepEqual(chunks, ['one', 'two'])
    })

    test('aborting ends a watch quietly and closes its connection', async () => {
      const server = await start((_, response) => void response.writeHead(200).write('one'))
      const closed = once(server.server, 'secureConnection').then(([socket]) =>
        once(socket as TLSSocket, 'close'),
      )
      const abort = new AbortController()
      let chunks = 0
      for await (const _ of stream(await ask(connect(server.url), '/x?watch=1&a=b', abort.signal))) {
        chunks++
        abort.abort()
      }
      assert.equal(chunks, 1)
      await closed
    })

    test('a watch that breaks off is reported as unreachable', async () => {
      const server = await start((request, response) => {
        response.writeHead(200).write('one')
        server.server.once('break', () => request.socket.destroy())
      })
      await assert.rejects(
        async () => {
          for await (const _ of stream(await ask(connect(server.url), '/x?watch=true')))
            server.server.emit('break')
        },
        error => hasCode(error, 'API_UNREACHABLE'),
      )
    })

    test('closed connections are replaced by new ones that make a full handshake', async () => {
      const server = await start((request, response) => {
        response.end(String((request.socket as TLSSocket).isSessionReused()))
      })
      let connections = 0
      server.server.on('secureConnection', () => connections++)
      const transport = connect(server.url)
      for (let n = 0; n < 10; n++) await ask(transport, '/')
      // The pool may open a second connection while the first one's answer is still being put away.
      assert.ok(connections <= 2, `${connections} connections for 10 requests`)
      const before = connections
      transport.closeConnections()
      assert.equal(whole(await ask(transport, '/')), 'false')
      assert.equal(connections, before + 1)
    })

    test('a burst of requests shares a few connections, and open watches take none of them', async () => {
      const server = await start((request, response) => {
        if (request.url === '/watch?watch=true') response.writeHead(200).write('x')
        else response.end('ok')
      })
      let connections = 0
      server.server.on('secureConnection', () => connections++)
      const transport = connect(server.url)
      const abort = new AbortController()
      const ended = Array.from({ length: 20 }, async () => {
        for await (const _ of stream(await ask(transport, '/watch?watch=true', abort.signal))) assert.ok(_)
      })
      const answers = await Promise.all(Array.from({ length: 100 }, () => ask(transport, '/')))
      assert.ok(answers.every(answer => whole(answer) === 'ok'))
      assert.ok(connections <= 36, `${connections} connections`)
      abort.abort()
      await Promise.all(ended)
    })

    test('a server with an unknown CA is refused, unless verification is switched off', async () => {
      const server = await start((_, response) => response.end('ok'))
      const stranger = { certificateAuthority: client.certificate }
      await assert.rejects(ask(connect(server.url, stranger), '/'), error =>
        hasCode(error, 'API_UNREACHABLE'),
      )
      assert.equal(whole(await ask(connect(server.url, { insecureSkipTlsVerify: true }), '/')), 'ok')
    })

    test('the name in the certificate is compared with tlsServerName when one is given', async () => {
      const server = await start((request, response) =>
        response.end((request.socket as TLSSocket & { servername: string }).servername),
      )
      assert.equal(
        whole(await ask(connect(server.url, { tlsServerName: 'server.example' }), '/')),
        'server.example',
      )
      await assert.rejects(ask(connect(server.url, { tlsServerName: 'other.example' }), '/'), /altnames/)
    })

    test('a failure names the server and its cause but no token', async () => {
      const transport = connect('https://127.0.0.1:1', { bearerToken: new Secret('abc-token') })
      await assert.rejects(ask(transport, '/'), (error: unknown) => {
        assert.ok(hasCode(error, 'API_UNREACHABLE'))
        assert.match(error.message, /https:\/\/127\.0\.0\.1:1.*ECONNREFUSED/)
        assert.ok(error.cause instanceof Error)
        assert.doesNotMatch(inspect(error, { depth: 9 }), /abc-token/)
        return true
      })
    })

    test('a key that TLS cannot load fails the request', async () => {
      const broken = connect('https://127.0.0.1:1', {
        clientCertificate: { certificate: client.certificate, key: new Secret('no key') },
      })
      await assert.rejects(ask(broken, '/'), error => hasCode(error, 'API_UNREACHABLE'))
    })

    test('through a proxy the server is reached by CONNECT, and verified itself', async () => {
      const server = await start((request, response) =>
        response.end((request.socket as TLSSocket).getPeerCertificate().subject.CN),
      )
      const asked: string[] = []
      const proxy = createServer((_, response) => response.writeHead(500).end())
      proxy.on('connect', (request, client) => {
        asked.push(`${request.url} ${request.headers['proxy-authorization']}`)
        const target = connectTcp(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
          client.write('HTTP/1.1 200 OK\r\n\r\n')
          target.pipe(client).pipe(target)
        })
        for (const [one, other] of [
          [client, target],
          [target, client],
        ] as const)
          one.on('error', () => {}).on('close', () => other.destroy())
      })
      await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
      cleanups.push(() => proxy.close())
      const proxyUrl = `http://a:b@127.0.0.1:${(proxy.address() as AddressInfo).port}`
      const clientCertificate = { certificate: client.certificate, key: new Secret(client.key) }
      const transport = connect(server.url, { proxyUrl, clientCertificate })
      assert.equal(whole(await ask(transport, '/')), 'client')
      assert.deepEqual(asked, [`${server.url.replace('https://', '')} Basic YTpi`])
      const other = connect(server.url, { proxyUrl, certificateAuthority: client.certificate })
      await assert.rejects(ask(other, '/'), error => hasCode(error, 'API_UNREACHABLE'))
    })
  })
