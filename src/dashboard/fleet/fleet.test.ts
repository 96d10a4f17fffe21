import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CertificateSigningRequest, resources, signerNames } from '../../kube/types.ts'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { host, onShownCluster, type ShownCluster } from '../testing/shown-cluster.ts'
import type { FleetBoard, FleetNews } from './board.ts'
import { type RequestNews, readNews, shownRequests } from './rows.ts'
import { type FleetLine, fleetStream } from './stream.ts'

type Line = { now: number; end?: string } & Partial<FleetNews>

/** What a viewer was told so far; `stop` lets him go. */
async function watch({ dashboard }: ShownCluster, token: string) {
  const gone = new AbortController()
  const headers = { host, authorization: `Bearer ${token}` }
  const { body } = await dashboard.handle(
    { method: 'GET', url: '/dashboard/api/fleet', headers, signal: gone.signal },
    { remoteAddress: '127.0.0.1' },
  )
  assert.ok(!(body instanceof Uint8Array))
  const lines: Line[] = []
  let bytes = 0
  const reading = (async () => {
    for await (const chunk of body) {
      bytes += chunk.length
      lines.push(JSON.parse(new TextDecoder().decode(chunk)) as FleetLine & Line)
    }
  })()
  for (let turn = 0; turn < 50; turn++) await settle()
  return {
    lines,
    size: () => bytes,
    reading,
    async stop() {
      gone.abort()
      await reading
    },
  }
}

test(
  'a viewer is told of all nodes, then of each change, and of nothing while nothing changes',
  onShownCluster(async cluster => {
    const { register, start, ask, node, bootstrapper, login, clock, admin } = cluster
    await register('a', [['InternalIP', '10.0.0.1']])
    await register('b', [['InternalIP', '10.0.0.2']])
    await start()
    const viewer = await watch(cluster, await login('admin', 'system:masters'))
    assert.deepEqual(
      viewer.lines.flatMap(({ nodes = [] }) => nodes),
      [
        ['a', 0, 0, 0, 0, 0],
        ['b', 0, 0, 0, 0, 0],
      ],
    )
    const told = viewer.lines.length
    await clock.advance(5000)
    assert.equal(viewer.lines.length, told)

    await ask({ by: bootstrapper, node: 'a' })
    await ask({ by: await node('a'), node: 'a', ips: ['10.0.0.1'] })
    await clock.advance(1000)
    const row = viewer.lines.at(-1)?.nodes?.[0] ?? assert.fail()
    const [name, , client, serving] = row
    assert.equal(name, 'a')
    assert.ok(client !== 0 && serving !== 0 && client[1] - client[0] > 3600)
    assert.ok(JSON.stringify(row).length < 150, 'bytes a node')

    await admin.delete(resources.nodes, { name: 'b' })
    await clock.advance(1000)
    assert.deepEqual(viewer.lines.at(-1)?.goneNodes, ['b'])
    await viewer.stop()
  }),
)

test(
  'who asks for names of others is marked himself, and the request stands in the queue with the reason',
  onShownCluster(async cluster => {
    const { register, start, ask, node, login } = cluster
    await register('thief', [['InternalIP', '10.0.0.1']])
    await register('victim', [['InternalIP', '10.0.0.2']])
    await start()
    const name = await ask({ by: await node('thief'), node: 'thief', ips: ['10.0.0.2'] })
    const viewer = await watch(cluster, await login('admin', 'system:masters'))
    const rows = new Map(viewer.lines.flatMap(({ nodes = [] }) => nodes).map(row => [row[0], row]))
    assert.ok((rows.get('thief')?.[5] ?? 0) > 0)
    assert.equal(rows.get('victim')?.[5], 0)
    const request = viewer.lines.flatMap(({ requests = [] }) => requests).find(row => row.name === name)
    assert.deepEqual(
      [request?.state, request?.reason, request?.asks],
      ['denied', 'OwnedByOtherNode', ['IP 10.0.0.2']],
    )
    await viewer.stop()
  }),
)

test(
  'a viewer who loses the right, or whose session ends, is let go within a heartbeat',
  onShownCluster(async cluster => {
    const { login, grant, clock, admin, call } = cluster
    const verbs = ['list']
    await grant('jane', [
      { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs },
      { apiGroups: [''], resources: ['nodes'], verbs },
    ])
    const token = await login('jane')
    const [one, other] = [await watch(cluster, await login('jane')), await watch(cluster, token)]
    await clock.advance(21_000)
    assert.equal(one.lines.at(-1)?.end, undefined)
    await call('session/end', { token, order: {} })
    await clock.advance(21_000)
    await other.reading
    assert.equal(other.lines.at(-1)?.end, 'The session is over.')
    await admin.delete(resources.clusterRoleBindings, { name: 'granted:jane' })
    await clock.advance(21_000)
    await one.reading
    assert.match(one.lines.at(-1)?.end ?? '', /may not list nodes and certificatesigningrequests/)
  }),
)

test(
  'what changes after a viewer lost the right is not told to him',
  onShownCluster(async cluster => {
    const { login, grant, admin, register, clock } = cluster
    const verbs = ['list']
    await grant('jane', [
      { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs },
      { apiGroups: [''], resources: ['nodes'], verbs },
    ])
    const jane = await watch(cluster, await login('jane'))
    await register('seen', [['InternalIP', '10.0.0.1']])
    await clock.advance(1000)
    assert.match(JSON.stringify(jane.lines), /"seen"/)
    await admin.delete(resources.clusterRoleBindings, { name: 'granted:jane' })
    await register('secret', [['InternalIP', '10.0.0.2']])
    await clock.advance(1000)
    await jane.reading
    assert.doesNotMatch(JSON.stringify(jane.lines), /"secret"/)
    assert.match(jane.lines.at(-1)?.end ?? '', /may not list/)
  }),
)

test('for a viewer who takes nothing more nothing more is kept', async () => {
  const nothing = { nodes: [], requests: [], goneNodes: [], goneRequests: [], counts: {} }
  let tell = (_: FleetNews) => {}
  let hasLeft = false
  const board: FleetBoard = {
    requestsOf: () => [],
    async join(onNews) {
      tell = onNews
      return {
        everything: nothing,
        leave() {
          hasLeft = true
        },
      }
    },
  }
  const clock = createManualClock(0)
  const { signal } = new AbortController()
  const stream = fleetStream({ board, clock, signal, ended: async () => undefined })
  await stream.next()
  for (let change = 0; change < 50; change += 1) tell({ ...nothing, goneNodes: [`${change}`] })
  assert.equal(hasLeft, false)
  tell(nothing)
  assert.equal(hasLeft, true)
  assert.equal((await stream.next()).done, true)
})

test('of the requests those that wait are shown first, and of those that are answered the latest', () => {
  const news = (n: number, state: RequestNews['row']['state']): RequestNews => ({
    row: { name: `${state}-${n}`, uid: `${n}`, kind: 'client', state, created: n, by: 'x', asks: [] },
  })
  const all = [
    ...Array.from({ length: 1500 }, (_, n) => news(n, 'issued')),
    ...Array.from({ length: 1500 }, (_, n) => news(n, 'pending')),
  ]
  const { rows, counts } = shownRequests(all)
  assert.deepEqual(counts, { issued: 1500, pending: 1500 })
  assert.deepEqual([rows.length, rows[0]?.name, rows.at(-1)?.name], [1100, 'pending-0', 'issued-1400'])
})

test('a request that cannot be read is a row all the same, and nobody is taken for its node', () => {
  const csr: CertificateSigningRequest = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'r', uid: 'u' },
    spec: { request: 'bm8=', signerName: signerNames.kubeletServing, usages: [], username: 'jane' },
    status: { certificate: 'bm8=' },
  }
  const { row, subject, asker, life } = readNews(csr, 5000)
  assert.deepEqual(row, {
    name: 'r',
    uid: 'u',
    kind: 'serving',
    state: 'issued',
    created: 5,
    by: 'jane',
    asks: [],
  })
  assert.deepEqual([subject, asker, life], [undefined, undefined, undefined])
})
