import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { createClient, type KubeClient } from '../kube/client.ts'
import type { ApiRequest, ApiResponse } from '../kube/transport.ts'
import { type KubeNode, type Lease, resources } from '../kube/types.ts'
import { silentLog } from '../ports.ts'
import { startEmbeddedCluster } from '../testing/embedded-cluster.ts'
import { inMemoryTransport, json } from '../testing/in-memory-transport.ts'
import { createManualClock, settle } from '../testing/manual-clock.ts'
import { renewLease } from './node-lease.ts'
import { NodePresence } from './node-presence.ts'

const second = 1000

function start(t: TestContext, client: KubeClient, clock = createManualClock(0)) {
  const failures: number[] = []
  let ready = true
  const presence = new NodePresence({
    client,
    clock,
    random: new SeededRandom('presence'),
    log: silentLog,
    ready: () => ready,
    facts: () => ({ nodeName: 'node-a', addresses: [] }),
    leaseDurationSeconds: 40,
    renewIntervalSeconds: 10,
    statusReportSeconds: 300,
    onBeat() {},
    onFailure: (_, count) => failures.push(count),
  })
  t.after(() => presence.stop())
  presence.start()
  return { clock, failures, presence, setReady: (value: boolean) => (ready = value) }
}

/** Answers every write with what was written. */
const echo = ({ body }: ApiRequest): ApiResponse => {
  const object = JSON.parse(new TextDecoder().decode(body ?? Buffer.from('{}')))
  // The end of the list is the directive of the patch (W-3).
  if (object.status?.addresses) object.status.addresses.length = 0
  return json(200, { ...object, metadata: { ...object.metadata, uid: 'u', resourceVersion: '1' } })
}

test('the lease is renewed every 10 s with at most 4 % jitter, and nothing else is sent', async t => {
  const transport = inMemoryTransport(echo)
  const { clock } = start(t, createClient(transport))
  await clock.advance(0)
  transport.requests.length = 0
  await clock.advance(104 * second)
  const methods = transport.requests.map(({ method, url }) => `${method} ${url.split('/').at(-2)}`)
  assert.ok(methods.length >= 10 && methods.length <= 11)
  assert.ok(methods.every(method => method === 'PUT leases'))
})

test('an unchanged status is reported every five minutes', async t => {
  const transport = inMemoryTransport(echo)
  const { clock } = start(t, createClient(transport))
  await clock.advance(1000 * second)
  const reports = transport.requests.filter(({ method }) => method === 'PATCH')
  assert.equal(reports.length, 3)
  assert.ok(reports.every(({ url }) => url.includes('/status')))
})

test('K-1: failures are retried from 0.2 s on, at the longest every 7 s, and a silent API is given up after 10 s', async t => {
  let mode: 'silent' | 'refuse' = 'refuse'
  const at: number[] = []
  const clock = createManualClock(0)
  const transport = inMemoryTransport(({ signal }) => {
    at.push(clock.monotonic())
    if (mode === 'refuse') return json(500, {})
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))
  })
  const { failures } = start(t, createClient(transport), clock)
  await clock.advance(60 * second)
  const gaps = at.slice(1).map((time, index) => time - (at[index] ?? 0))
  assert.deepEqual(gaps.slice(0, 6), [200, 400, 800, 1600, 3200, 6400])
  assert.ok(gaps.slice(6).every(gap => gap === 7000))
  assert.equal(failures.at(-1), failures.length)
  mode = 'silent'
  at.length = 0
  await clock.advance(60 * second)
  const silent = at.slice(2).map((time, index) => time - (at[index + 1] ?? 0))
  assert.ok(silent.every(gap => gap === 17_000))
})

test('without a credential nothing is tried and no timer runs until it is woken', async t => {
  const transport = inMemoryTransport(echo)
  const { clock, presence, setReady } = start(t, createClient(transport))
  await clock.advance(0)
  setReady(false)
  await clock.advance(60 * second)
  const before = transport.requests.length
  assert.equal(clock.pending(), 0)
  setReady(true)
  presence.wake()
  await settle()
  assert.ok(transport.requests.length > before)
})

test('whoever keeps changing the Node drives it to one beat a second at most', async t => {
  const transport = inMemoryTransport(echo)
  const { clock, presence } = start(t, createClient(transport))
  await clock.advance(0)
  transport.requests.length = 0
  for (let time = 0; time < 100; time++) {
    const metadata = { name: 'node-a', uid: 'u', resourceVersion: String(time + 2) }
    presence.seen({ apiVersion: 'v1', kind: 'Node', metadata, status: { addresses: [] } })
    await clock.advance(100)
  }
  const reports = transport.requests.filter(({ method }) => method === 'PATCH')
  assert.ok(reports.length >= 9 && reports.length <= 11, `${reports.length} reports in 10 s`)
})

test('a lease that another wrote, or that is gone, is renewed nevertheless', async t => {
  const cluster = await startEmbeddedCluster()
  t.after(() => cluster.close())
  const client = await cluster.node('node-a')
  const { signal } = new AbortController()
  const { clock, admin } = cluster
  // A lease whose owner is not there would be collected.
  const named = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } }
  const node = await client.create<KubeNode>(resources.nodes, named)
  const facts = { nodeName: 'node-a', nodeUid: node.metadata.uid ?? '', durationSeconds: 40 }
  const renew = (known?: Lease) => renewLease(client, known, facts, () => clock.now(), signal)
  const created = await renew()
  assert.equal(created.spec?.holderIdentity, 'node-a')
  await clock.advance(second)
  const renewed = await renew(created)
  await clock.advance(second)
  const again = await renew(created) // out of date: somebody else's write came between
  assert.ok(Number(again.metadata.resourceVersion) > Number(renewed.metadata.resourceVersion))
  await admin.delete(resources.leases, { name: 'node-a', namespace: 'kube-node-lease' })
  assert.notEqual((await renew(again)).metadata.uid, again.metadata.uid)
})
