import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { systemDisk } from '../host/disk.ts'
import type { ApiResponse, Transport } from '../kube/transport.ts'
import { type KubeEvent, resources } from '../kube/types.ts'
import type { AuditEntry } from '../survey/audit/audit-entry.ts'
import { readLogFiles } from '../survey/audit/log-files.ts'
import { readHeads } from '../survey/audit/publish-head.ts'
import { verifyAgainst } from '../survey/audit/verify-log.ts'
import { type ControlledCluster, calm, onCluster } from '../testing/controlled-cluster.ts'
import { memoryDisk } from '../testing/memory-disk.ts'
import { seededRandom } from '../testing/seeded-random.ts'

const path = '/d/decisions.log'
const election = (identity: string) => ({ identity, namespace: 'kube-system', name: 'rollcall-controller' })

async function look(
  cluster: ControlledCluster,
  disk: ReturnType<typeof memoryDisk>,
  heads = readHeads(cluster.admin),
) {
  const entries: AuditEntry[] = []
  const found = verifyAgainst(await readLogFiles(path, disk), await heads, undefined, entry =>
    entries.push(entry),
  )
  return { ...found, entries }
}

test(
  'every decision is in the log with its SANs, their evidence and the policy; the head is in a Lease',
  onCluster(async cluster => {
    const disk = memoryDisk()
    const running = await cluster.start({ decisionLog: { path, disk } })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    const denied = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['127.0.0.1'] })
    await cluster.decide(
      await cluster.ask({ by: await cluster.node('b'), node: 'b', ips: ['10.0.0.2'] }),
      'Approved',
      'Kubectl',
    )
    await running.stop()
    const { report, problems, head, entries } = await look(cluster, disk)
    assert.deepEqual([report.broken, problems, head?.seq], [undefined, [], 4])
    const decisions = entries.flatMap(entry => (entry.kind === 'decision' ? [entry] : []))
    assert.deepEqual(
      decisions.map(({ request, outcome, reasons, decidedBy }) => [
        request.name,
        outcome,
        reasons[0],
        decidedBy,
      ]),
      [
        [name, 'Approve', 'SansProven', undefined],
        [denied, 'Deny', 'ReservedName', undefined],
        ['csr-3', 'Approve', 'ForeignDecision', 'Kubectl: '],
      ],
    )
    assert.deepEqual(decisions[0]?.sans, [
      { name: '10.0.0.1', proofs: [{ level: 'NodeStatus', source: 'Node a status.addresses InternalIP' }] },
    ])
    assert.deepEqual(decisions[0]?.policy, { name: 'given', revision: '' })
    assert.equal(decisions[0]?.request.uid, (await cluster.read(name)).metadata.uid)
  }),
)

test(
  'while the log takes nothing nothing is decided, and all is decided when it does again',
  onCluster(async cluster => {
    const disk = memoryDisk()
    await cluster.start({ decisionLog: { path, disk } })
    disk.full = true
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.clock.advance(5_000)
    assert.equal(await cluster.fate(name), 'pending')
    disk.full = false
    await cluster.clock.advance(60_000)
    await calm()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)

test(
  'a leader with another disk begins a chain that names the head of the one before, which the Lease keeps',
  onCluster(async cluster => {
    const [mine, theirs] = [memoryDisk(), memoryDisk()]
    const first = await cluster.start({ decisionLog: { path, disk: mine }, leaderElection: election('one') })
    await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await first.stop()
    const before = await look(cluster, mine)
    const second = await cluster.start({
      decisionLog: { path, disk: theirs },
      leaderElection: election('two'),
      random: seededRandom(4),
    })
    await cluster.ask({ by: cluster.bootstrapper, node: 'b' })
    await second.stop()
    const [entry] = (await look(cluster, theirs)).entries
    assert.deepEqual(entry?.kind === 'start' && [entry.writer, entry.after?.hash], [
      'two',
      before.report.position?.hash,
    ])
    for (const disk of [mine, theirs]) {
      const { problems, head } = await look(cluster, disk)
      assert.deepEqual([problems, head !== undefined], [[], true])
    }
  }),
)

test(
  'a log that was cut off while nobody ran is told of when the next one begins',
  onCluster(async cluster => {
    const disk = memoryDisk()
    const first = await cluster.start({ decisionLog: { path, disk } })
    for (const node of ['a', 'b']) await cluster.ask({ by: cluster.bootstrapper, node })
    await first.stop()
    const lines = (disk.files.get(path) ?? '').toString().split('\n')
    disk.files.set(path, Buffer.from(`${lines.slice(0, 2).join('\n')}\n`))
    await cluster.start({ decisionLog: { path, disk } })
    const told = cluster.log.fields.filter(fields =>
      /entries 3 to 3 are missing/.test(JSON.stringify(fields ?? {})),
    )
    assert.equal(told.length, 1)
  }),
)

test('a log on a real disk goes on after a crash in the middle of a line', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'decisions-'))
  try {
    const onDisk = join(folder, 'decisions.log')
    await onCluster(async cluster => {
      const decisionLog = { path: onDisk, disk: systemDisk }
      const first = await cluster.start({ decisionLog })
      await first.stop()
      appendFileSync(onDisk, '{"seq":2,')
      const second = await cluster.start({ decisionLog })
      await second.stop()
      const { report, problems } = verifyAgainst(
        await readLogFiles(onDisk, systemDisk),
        await readHeads(cluster.admin),
      )
      assert.deepEqual([report.entries, report.broken, problems], [2, undefined, []])
      assert.equal(report.notes.length, 1)
    })()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test(
  'heads are an Event too, and go to a receiver; one that never answers holds up no decision and is counted',
  onCluster(async cluster => {
    const disk = memoryDisk()
    const metrics = new Registry()
    const kept: unknown[] = []
    let answers = true
    const never = Promise.withResolvers<ApiResponse>()
    const transport: Transport = {
      async request({ body }) {
        if (!answers) return never.promise
        kept.push(JSON.parse(Buffer.from(body ?? new Uint8Array()).toString()))
        return { status: 200, headers: {}, body: new Uint8Array() }
      },
      closeConnections() {},
    }
    const headReceiver = { url: 'https://keeper.example/heads', transport }
    const running = await cluster.start({ decisionLog: { path, disk, headReceiver }, metrics })
    await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.clock.advance(60_000)
    await calm()
    const heads = await readHeads(cluster.admin)
    assert.deepEqual(kept.at(-1), heads[0])
    const { items } = await cluster.admin.list<KubeEvent>(resources.events, { namespace: 'kube-system' })
    const told = items.filter(({ reason }) => reason === 'DecisionLogHead')
    assert.deepEqual(JSON.parse(told.at(-1)?.message ?? ''), heads[0])

    answers = false
    for (const node of ['b', 'c', 'd']) {
      const name = await cluster.ask({ by: cluster.bootstrapper, node })
      assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
      await cluster.clock.advance(60_000)
      await calm()
    }
    const failed = (await metrics.metrics()).match(
      /rollcall_audit_heads_total\{place="webhook",result="failed"\} (\d+)/,
    )
    assert.ok(Number(failed?.[1]) > 0)
    const stopped = running.stop()
    await calm()
    await cluster.clock.advance(2_000)
    await stopped
  }),
)
