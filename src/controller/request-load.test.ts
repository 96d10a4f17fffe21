import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStatus } from '../kube/client.ts'
import { csrCondition } from '../kube/csr-conditions.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import type { LedgerEntry } from '../sign/ledger.ts'
import { type ControlledCluster, calm, onCluster } from '../testing/controlled-cluster.ts'

const csrs = resources.certificateSigningRequests

async function asker(cluster: ControlledCluster, node: string) {
  const by = await cluster.node(node)
  return (address: string) => cluster.ask({ by, node, ips: [address] })
}

test(
  'A16: of three requests of one node the newest is judged, the others are superseded',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const ask = await asker(cluster, 'a')
    const names: string[] = []
    for (const address of ['10.0.0.2', '10.0.0.2', '10.0.0.1']) {
      names.push(await ask(address))
      await cluster.clock.advance(60_000)
      await calm()
    }
    const fates = await Promise.all(names.map(name => cluster.fate(name)))
    assert.deepEqual(fates, ['Denied Superseded', 'Denied Superseded', 'Approved SansProven, issued'])
    const denied = csrCondition(await cluster.read(names[0] ?? ''), 'Denied')
    assert.match(denied?.message ?? '', /request "csr-2"/)
  }),
)

test(
  'requests for a node under one bootstrap token do not supersede each other',
  onCluster(async cluster => {
    await cluster.start({ only: ['cleaning'] })
    const first = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.clock.advance(60_000)
    await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.start()
    assert.equal(await cluster.fate(first), 'Approved AutoApproved, issued')
  }),
)

test(
  'M3: the junk of one node is held back; another node is approved, and so is the one once it is right',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.register('junk', [['InternalIP', '10.0.0.1']])
    await cluster.register('honest', [['InternalIP', '10.0.0.2']])
    const [junk, honest] = [await asker(cluster, 'junk'), await asker(cluster, 'honest')]
    const names: string[] = []
    for (let count = 0; count < 8; count++) {
      names.push(await junk('10.0.0.2'))
      await cluster.clock.advance(1_000)
    }
    await calm()
    const fates = await Promise.all(names.map(name => cluster.fate(name)))
    assert.deepEqual(fates.slice(0, 5), Array(5).fill('Denied OwnedByOtherNode'))
    assert.deepEqual(fates.slice(5), ['Denied Superseded', 'Denied Superseded', 'pending'])
    assert.equal(await cluster.fate(await honest('10.0.0.2')), 'Approved SansProven, issued')
    assert.equal(await cluster.fate(await junk('10.0.0.1')), 'Approved SansProven, issued')
  }),
)

test(
  'a denial that is held back is given while the kubelet still waits for it',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.register('junk', [['InternalIP', '10.0.0.1']])
    const junk = await asker(cluster, 'junk')
    for (let count = 0; count < 5; count++) await junk('10.96.0.1')
    const name = await junk('10.96.0.1')
    await cluster.clock.advance(830_000)
    assert.equal(await cluster.fate(name), 'pending')
    await cluster.clock.advance(20_000)
    await calm()
    assert.equal(await cluster.fate(name), 'Denied ReservedName')
  }),
)

test(
  'a node is approved no more often within the hour than the policy says',
  onCluster(async cluster => {
    const approvalPolicy = { evidence: 'NodeStatus', allowedRanges: [], approvalsPerHour: 2 } as const
    await cluster.start({ approvalPolicy })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const ask = await asker(cluster, 'a')
    const names: string[] = []
    for (let count = 0; count < 3; count++) {
      names.push(await ask('10.0.0.1'))
      await cluster.clock.advance(1_000)
      await calm()
    }
    assert.equal(await cluster.fate(names[1] ?? ''), 'Approved SansProven, issued')
    assert.equal(await cluster.fate(names[2] ?? ''), 'pending')
    assert.deepEqual(await cluster.eventsOf(names[2] ?? ''), ['Normal Throttled'])
  }),
)

test(
  'A13: a decision of somebody else is told',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const ask = await asker(cluster, 'a')
    const name = await ask('10.0.0.2')
    await cluster.decide(name, 'Approved', 'KubectlApprove')
    assert.deepEqual(await cluster.eventsOf(name), ['Normal SanUnproven', 'Normal ForeignDecision'])
  }),
)

test(
  'A8: a request that vanishes before its decision is written is no error',
  onCluster(async cluster => {
    const { controllerClient } = cluster
    const client = {
      ...controllerClient,
      update: (async (resource, object, options) => {
        if (options?.subresource === 'approval')
          await cluster.admin.delete(csrs, { name: object.metadata.name })
        return controllerClient.update(resource, object, options)
      }) as typeof controllerClient.update,
    }
    await cluster.start({ client, only: ['approval'] })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await assert.rejects(cluster.read(name), error => isStatus(error, 'NotFound'))
    assert.deepEqual(
      cluster.log.lines.filter(line => !line.startsWith('info: ')),
      [],
    )
  }),
)

test(
  'A10: a request that changed before its decision is written is read and judged again',
  onCluster(async cluster => {
    const { controllerClient } = cluster
    let changes = 2
    const client = {
      ...controllerClient,
      update: (async (resource, object, options) => {
        if (options?.subresource === 'approval' && changes-- > 0) {
          const now = await cluster.admin.get<CertificateSigningRequest>(csrs, { name: object.metadata.name })
          const annotations = { change: String(changes) }
          await cluster.admin.update(csrs, { ...now, metadata: { ...now.metadata, annotations } })
        }
        return controllerClient.update(resource, object, options)
      }) as typeof controllerClient.update,
    }
    await cluster.start({ client })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)

test(
  'A11: a decision that cannot be written is tried again, and told once',
  onCluster(async cluster => {
    const { controllerClient } = cluster
    let failures = 3
    const client = {
      ...controllerClient,
      update: (async (resource, object, options) => {
        if (options?.subresource === 'approval' && failures-- > 0) throw new Error('the server is tired')
        return controllerClient.update(resource, object, options)
      }) as typeof controllerClient.update,
    }
    await cluster.start({ client })
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.equal(await cluster.fate(name), 'pending')
    await cluster.clock.advance(10_000)
    await calm()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
    assert.deepEqual(await cluster.eventsOf(name), ['Normal AutoApproved'])
  }),
)

test(
  'of the requests that wait when the controllers start, the one whose certificate expires first is judged first',
  onCluster(async cluster => {
    const entries: LedgerEntry[] = []
    const first = await cluster.start({ ledger: { record: async entry => void entries.push(entry) } })
    const nodes = Array.from({ length: 12 }, (_, index) => `n${index}`)
    for (const node of nodes) {
      await cluster.ask({ by: cluster.bootstrapper, node })
      await cluster.clock.advance(60_000)
      await calm()
    }
    await first.stop()
    const before = cluster.log.fields.length
    const renewals = new Map<string, string>()
    for (const node of nodes.toReversed())
      renewals.set(await cluster.ask({ by: await cluster.node(node), node }), node)
    await cluster.start({ issued: replayed(entries) })
    const told = cluster.log.fields.slice(before) as ({ csr?: string; outcome?: string } | undefined)[]
    const judged = told.flatMap(fields => (fields?.outcome ? [renewals.get(fields.csr ?? '')] : []))
    assert.deepEqual(judged, nodes)
  }),
)

async function* replayed(entries: readonly LedgerEntry[]) {
  yield* entries
}

test(
  'with a ledger that cannot be read client requests are judged, serving requests are approved once it can',
  onCluster(async cluster => {
    let torn = true
    const issued = {
      async *[Symbol.asyncIterator](): AsyncGenerator<LedgerEntry> {
        yield* []
        if (torn) throw new Error('the ledger is torn')
      },
    }
    await cluster.start({ issued })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    assert.equal(
      await cluster.fate(await cluster.ask({ by: cluster.bootstrapper, node: 'a' })),
      'Approved AutoApproved, issued',
    )
    const ask = await asker(cluster, 'a')
    const name = await ask('10.0.0.1')
    await cluster.clock.advance(60_000)
    await calm()
    assert.equal(await cluster.fate(name), 'pending')
    assert.ok(cluster.log.lines.some(line => line.startsWith('error: the ledger cannot be read')))
    torn = false
    await cluster.clock.advance(120_000)
    await calm()
    assert.equal(await cluster.fate(name), 'Approved SansProven, issued')
  }),
)
