import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:http2'
import { request as httpsRequest } from 'node:https'
import { test } from 'node:test'
import { systemClock } from '../../host/clock.ts'
import { Secret } from '../../keys/secret.ts'
import { silentLog } from '../../ports.ts'
import { foreignPair } from '../../testing/https-server.ts'
import type { Api } from '../api.ts'
import { impersonationValues } from './impersonation-values.ts'
import { serve } from './server.ts'

const groups = ['CN=a, O=b', 'c']

test('Repeated headers are joined by a newline, of a user the first counts, other headers stay out', () => {
  const raw = ['Impersonate-User', 'a', 'impersonate-group', 'x, y', 'Impersonate-Group', 'z']
  assert.deepEqual(impersonationValues([...raw, 'Impersonate-User', 'b', 'Accept', 'c', '__proto__', 'd']), {
    'impersonate-user': 'a',
    'impersonate-group': 'x, y\nz',
  })
})

test('A group whose name holds a comma arrives whole, over HTTP/1.1 and HTTP/2', async t => {
  const pair = await foreignPair('apiserver')
  const seen: (string | undefined)[] = []
  const api: Api = {
    async handle({ headers }) {
      seen.push(headers['impersonate-group'])
      return { status: 200, headers: {}, body: new Uint8Array() }
    },
    beginShutdown() {},
    async close() {},
  }
  const tls = {
    certificate: pair.certificate,
    key: new Secret(pair.key),
    clientCertificateAuthorities: pair.certificate,
  }
  const server = await serve({ api, port: 0, tls, clock: systemClock, log: silentLog })
  t.after(() => server.close())
  const where = { host: '127.0.0.1', port: server.port, ca: pair.certificate }

  const first = httpsRequest({ ...where, headers: { 'Impersonate-Group': groups }, agent: false }).end()
  const [answer] = await once(first, 'response')
  answer.resume()
  await once(answer, 'end')

  const session = connect(`https://127.0.0.1:${server.port}`, { ca: pair.certificate })
  t.after(() => session.destroy())
  const stream = session.request({ 'impersonate-group': groups })
  stream.resume()
  await once(stream, 'end')
  assert.deepEqual(seen, [groups.join('\n'), groups.join('\n')])
})
