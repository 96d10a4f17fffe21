import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { Secret } from '../../keys/secret.ts'
import type { ApiRequest, ApiResponse } from '../../kube/transport.ts'
import type { KubeObject } from '../../kube/types.ts'
import { foreignPair } from '../../testing/https-server.ts'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import type { ObjectReader } from '../reader.ts'
import type { ResourcePath } from '../request-info.ts'
import { ApiError } from '../wire/api-error.ts'
import { defaultAddressTypes } from './kubelet-address.ts'
import { createTunnels, type Tunnels } from './tunnels.ts'

// Kubelets that do not behave. Those that do, and kubectl, are in test/kubectl-*.test.ts.

const pair = await foreignPair('client')
const path: ResourcePath = {
  group: '',
  version: 'v1',
  plural: 'pods',
  subresource: 'log',
  namespace: 'default',
  name: 'p',
}

/** Pods `p` on node `n` and `q` on node `m`; the kubelets of both are at this port. */
function objects(port: number): ObjectReader {
  const node = (name: string): KubeObject & { status: object } => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    },
  })
  const pod = (name: string, nodeName: string): KubeObject & { spec: object } => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { nodeName, containers: [{ name: 'c' }] },
  })
  const all: Record<string, KubeObject> = {
    'nodes/n': node('n'),
    'nodes/m': node('m'),
    'pods/p': pod('p', 'n'),
    'pods/q': pod('q', 'm'),
  }
  return {
    get: <T extends KubeObject>({ plural }: { plural: string }, name: string) =>
      all[`${plural}/${name}`] as T | undefined,
    list: () => [],
    generation: () => 0,
  }
}

/** A machine that takes connections and says nothing. */
async function silentKubelet(t: TestContext) {
  const sockets = new Set<Socket>()
  const server: Server = createServer(socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.resume()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  const clock = createManualClock(0)
  const tunnels = createTunnels({
    clock,
    reader: objects(port),
    addressTypes: defaultAddressTypes,
    clientCertificate: () => ({ certificate: pair.certificate, key: new Secret(pair.key) }),
    certificateAuthority: () => undefined,
  })
  return { clock, tunnels, sockets, port }
}

function ask(
  tunnels: Tunnels,
  more: Partial<ResourcePath> = {},
  request: Partial<ApiRequest> = {},
  username = 'alice',
) {
  const url = '/api/v1/namespaces/default/pods/p/log'
  return tunnels.answer({
    path: { ...path, ...more },
    user: { username, groups: [] },
    query: new URLSearchParams(url.split('?')[1]),
    request: { method: 'GET', url, headers: {}, ...request },
  })
}

const refusal = (answer: Promise<ApiResponse>): Promise<string> =>
  answer.then(
    ({ status }) => `answered with ${status}`,
    (error: unknown) => (error instanceof ApiError ? error.message : String(error)),
  )

async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000 && !holds(); turn++) await settle()
  assert.ok(holds())
}

test('attack: a kubelet that takes the connection and makes no handshake is given up after ten seconds', async t => {
  const { clock, tunnels, sockets, port } = await silentKubelet(t)
  const answer = refusal(ask(tunnels))
  await until(() => sockets.size === 1 && clock.pending() === 1)
  await clock.advance(10_000)
  assert.equal(
    await answer,
    `Get "https://127.0.0.1:${port}/containerLogs/default/p/c": net/http: TLS handshake timeout`,
  )
  assert.equal(clock.pending(), 0)
  await until(() => sockets.size === 0)
})

test('attack: a hundred requests may wait for one kubelet, eighty of one user; the next is refused, another kubelet is still reached', async t => {
  const { clock, tunnels, sockets } = await silentKubelet(t)
  const left = new AbortController()
  const askAs = (user: string, count: number) =>
    Array.from({ length: count }, () => refusal(ask(tunnels, {}, { signal: left.signal }, user)))
  const answers = askAs('alice', 80)
  await until(() => sockets.size === 80)
  assert.equal(await refusal(ask(tunnels)), 'answered with 429')
  answers.push(...askAs('bob', 20))
  await until(() => sockets.size === 100)
  assert.equal(await refusal(ask(tunnels, {}, {}, 'carol')), 'answered with 429')
  const other = refusal(ask(tunnels, { name: 'q' }, { signal: left.signal }))
  await until(() => sockets.size === 101)
  left.abort()
  assert.deepEqual(new Set(await Promise.all([...answers, other])), new Set(['the client has left']))
  assert.equal(clock.pending(), 0)
  await until(() => sockets.size === 0)
  const again = new AbortController()
  const next = refusal(ask(tunnels, {}, { signal: again.signal }))
  await until(() => sockets.size === 1)
  again.abort()
  await next
})

test('who asks for a stream without an upgrade, or with a body behind it, is told', async t => {
  const { tunnels, sockets } = await silentKubelet(t)
  const headers = { connection: 'Upgrade', upgrade: 'SPDY/3.1' }
  assert.equal(await refusal(ask(tunnels, { subresource: 'exec' })), 'Upgrade request required')
  assert.equal(await refusal(ask(tunnels, { subresource: 'exec' }, { headers })), 'Upgrade request required')
  for (const more of [{ 'content-length': '5' }, { 'transfer-encoding': 'chunked' }]) {
    const request = { headers: { ...headers, ...more }, upgradable: true }
    assert.match(await refusal(ask(tunnels, { subresource: 'exec' }, request)), /must not have a body/)
  }
  assert.equal(sockets.size, 0)
})
