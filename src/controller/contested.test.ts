import assert from 'node:assert/strict'
import { test } from 'node:test'
import { RollcallError } from '../errors.ts'
import { ApiStatusError, type Target } from '../kube/client.ts'
import { csrCondition } from '../kube/csr-conditions.ts'
import { type ConfigMap, type KubeNode, type KubeObject, type ResourceRef, resources } from '../kube/types.ts'
import { configMapLedger } from '../sign/config-map-ledger.ts'
import type { LedgerEntry } from '../sign/ledger.ts'
import { calm, nodeStatusPolicy, onCluster } from '../testing/controlled-cluster.ts'

test(
  'F16: the node that claimed an address first gets it, though another claims it too',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.register('victim', [['InternalIP', '10.0.0.1']])
    await cluster.register('thief', [['InternalIP', '10.0.0.1']])
    const theft = await cluster.ask({ by: await cluster.node('thief'), node: 'thief', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(theft), 'Denied OwnedByOtherNode')
    const honest = await cluster.ask({ by: await cluster.node('victim'), node: 'victim', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(honest), 'Approved SansProven, issued')
    assert.deepEqual(await cluster.eventsOf(honest), ['Normal SansProven', 'Warning SanContested'])
  }),
)

test(
  'what a living node is certified for stays its own after it gave it up, the request is gone and the controllers start anew',
  onCluster(async cluster => {
    const entries: LedgerEntry[] = []
    const first = await cluster.start({ ledger: { record: async entry => void entries.push(entry) } })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(name), 'Approved SansProven, issued')
    await cluster.admin.delete(resources.certificateSigningRequests, { name })
    await cluster.register('a', [['InternalIP', '10.0.0.2']])
    await cluster.register('b', [['InternalIP', '10.0.0.1']])

    const before = await cluster.ask({ by: await cluster.node('b'), node: 'b', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(before), 'pending')
    await first.stop()
    await cluster.start({ issued: replayed(entries) })
    assert.equal(await cluster.fate(before), 'pending')
    await cluster.admin.delete(resources.nodes, { name: 'a' })
    await calm()
    assert.equal(await cluster.fate(before), 'Approved SansProven, issued')
  }),
)

test(
  'with the ledger in ConfigMaps a certified address is refused to another node, though all requests are gone and all starts anew',
  onCluster(async cluster => {
    const start = () => {
      const ledger = configMapLedger({ ...cluster, client: cluster.controllerClient })
      return cluster.start({ ledger, issued: ledger.issued })
    }
    const first = await start()
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(name), 'Approved SansProven, issued')
    await first.stop()
    await cluster.admin.delete(resources.certificateSigningRequests, { name })
    await cluster.register('a', [['InternalIP', '10.0.0.2']])
    await cluster.register('b', [['InternalIP', '10.0.0.1']])

    await start()
    const theft = await cluster.ask({ by: await cluster.node('b'), node: 'b', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(theft), 'pending')
    assert.deepEqual(await cluster.eventsOf(theft), ['Normal OwnedByOtherNode'])
  }),
)

async function* replayed(entries: readonly LedgerEntry[]) {
  yield* entries
}

const inventory = { name: 'inventory', namespace: 'kube-system' }
const configMap = (nodes: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: inventory,
  data: { 'nodes.yaml': nodes },
})
const byInventory = {
  ...nodeStatusPolicy,
  evidence: 'Inventory',
  inventory: { configMap: 'kube-system/inventory' },
} as const

test(
  'I3: a request waits for the inventory, is never denied while that is missing, and approved when the node is in it',
  onCluster(async cluster => {
    await cluster.start({ approvalPolicy: byInventory })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const ask = async () => cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    const name = await ask()
    await cluster.clock.advance(600_000)
    assert.equal(await cluster.fate(name), 'pending')
    assert.deepEqual(await cluster.eventsOf(name), ['Warning EvidenceUnavailable'])

    await cluster.admin.create(resources.configMaps, configMap('nodes: { b: {} }'))
    const second = await ask()
    assert.equal(await cluster.fate(second), 'pending')
    const held = await cluster.admin.get<ConfigMap>(resources.configMaps, inventory)
    const data = { 'nodes.yaml': 'nodes: { a: { addresses: [10.0.0.1] } }' }
    await cluster.admin.update(resources.configMaps, { ...held, data })
    await calm()
    assert.equal(await cluster.fate(second), 'Approved SansProven, issued')
    assert.match(
      csrCondition(await cluster.read(second), 'Approved')?.message ?? '',
      /IP 10\.0\.0\.1 \(inventory ConfigMap kube-system\/inventory\)/,
    )
  }),
)

test(
  'I9: a malformed inventory changes nothing; the last good one goes on to count',
  onCluster(async cluster => {
    await cluster.admin.create(resources.configMaps, configMap('nodes: { a: { addresses: [10.0.0.1] } }'))
    await cluster.start({ approvalPolicy: byInventory })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const held = await cluster.admin.get<ConfigMap>(resources.configMaps, inventory)
    await cluster.admin.update(resources.configMaps, { ...held, data: { 'nodes.yaml': 'nodes: [' } })
    await calm()
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(name), 'Approved SansProven, issued')
    assert.ok(cluster.log.lines.some(line => line.startsWith('warn: ') && line.includes('malformed')))
  }),
)

test(
  'I7: a request that waits is judged by the Node that was made anew',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.2'] })
    await cluster.admin.delete(resources.nodes, { name: 'a' })
    await calm()
    assert.equal(await cluster.fate(name), 'pending')
    await cluster.register('a', [['InternalIP', '10.0.0.2']])
    assert.equal(await cluster.fate(name), 'Approved SansProven, issued')
    const { items } = await cluster.admin.list<KubeNode>(resources.nodes)
    assert.equal(items.length, 1)
  }),
)

test(
  'a request that is deleted while it is judged holds no address, also when its approval never reached the API',
  onCluster(async cluster => {
    const client = { ...cluster.controllerClient }
    const failing = [conflict, broken]
    client.update = async (resource, object, options) => {
      const fail = options?.subresource === 'approval' ? failing.shift() : undefined
      if (fail) throw fail()
      return cluster.controllerClient.update(resource, object, options)
    }
    client.get = async <T extends KubeObject>(resource: ResourceRef, target: Target) => {
      const found = await cluster.controllerClient.get<T>(resource, target)
      if (resource === resources.certificateSigningRequests && failing.length === 1) {
        await cluster.admin.delete(resource, target)
        await calm()
      }
      return found
    }
    await cluster.start({ client })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    await cluster.clock.advance(60_000)
    assert.equal(failing.length, 0)
    await cluster.register('a', [['InternalIP', '10.0.0.2']])
    await cluster.register('b', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('b'), node: 'b', ips: ['10.0.0.1'] })
    assert.equal(await cluster.fate(name), 'Approved SansProven, issued')
  }),
)

const conflict = () =>
  new ApiStatusError({
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    message: 'the object has been modified',
    reason: 'Conflict',
    code: 409,
  })
const broken = () => new RollcallError('API_UNREACHABLE', 'the connection broke')
