import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import type { ConnectionConfig } from '../kube/transport.ts'
import { readEvidenceConfig } from './evidence-config.ts'

function reading(files: Record<string, string>) {
  const connections: ConnectionConfig[] = []
  const sources = readEvidenceConfig('/e.yaml', {
    connect(config) {
      connections.push(config)
      return { request: () => Promise.reject(new Error('not here')), closeConnections() {} }
    },
    spawn: { run: () => Promise.reject(new Error('not here')) },
    read: async path => files[path] ?? Promise.reject(new Error(`${path} is not there`)),
  })
  return { connections, sources }
}

test('a webhook is reached at its origin with its own trust and token, a program by its path', async () => {
  const { connections, sources } = reading({
    '/e.yaml': `sources:
      - {name: cmdb, webhook: {url: "https://cmdb.example:8443/nodes", caFile: /ca.pem, tokenFile: /token}}
      - {name: racks, timeoutSeconds: 2.5, exec: {command: /usr/local/bin/racks, args: [--json], env: {SITE: x}}}`,
    '/ca.pem': 'PEM',
    '/token': ' abc\n',
  })
  assert.deepEqual(
    (await sources).map(({ name, timeout }) => [name, timeout]),
    [
      ['cmdb', 5000],
      ['racks', 2500],
    ],
  )
  const [connection] = connections
  assert.equal(connection?.server, 'https://cmdb.example:8443')
  assert.equal(connection.certificateAuthority, 'PEM')
  assert.equal((await connection.readBearerToken?.())?.reveal(), 'abc')
})

const refused: [sources: string, told: RegExp][] = [
  ['{}', /sources must be a list/],
  ['[a: b', /is no YAML/],
  ['[{webhook: {url: "https://a"}}]', /sources\[0\]\.name must be a string/],
  ['[{name: a}]', /exactly one of webhook and exec/],
  ['[{name: a, webhook: {url: "http://a"}}]', /must be an https address/],
  ['[{name: a, exec: {command: racks}}]', /must be an absolute path/],
  ['[{name: a, exec: {command: /x, args: [1]}}]', /args must be a list of strings/],
  ['[{name: a, exec: {command: /x, shell: true}}]', /unknown field "shell"; known are command, args, env/],
  ['[{name: a, timeoutSeconds: 0, exec: {command: /x}}]', /above 0 and up to 60/],
  ['[{name: a, exec: {command: /x}}, {name: a, exec: {command: /y}}]', /two sources are named "a"/],
]
for (const [text, told] of refused) {
  test(`refused with its place: sources: ${text}`, async () => {
    const { sources } = reading({ '/e.yaml': `sources: ${text}` })
    await assert.rejects(sources, error => hasCode(error, 'USAGE') && told.test(error.message))
  })
}

test('what is no YAML is told with its line and without its text, which may hold a secret', async () => {
  const text = 'sources:\n  - name: racks\n    exec: {command: /bin/x, env: {TOKEN: hunter2}\n  - : [\n'
  const failure = await reading({ '/e.yaml': text }).sources.catch(String)
  assert.match(String(failure), /--evidence-config: \/e\.yaml: line \d+ is no YAML/)
  assert.doesNotMatch(String(failure), /hunter2/)
})
