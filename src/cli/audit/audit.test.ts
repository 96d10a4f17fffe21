import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { generateSigner } from '../../keys/private-key.ts'
import { resources } from '../../kube/types.ts'
import { readHeads } from '../../survey/audit/publish-head.ts'
import { headLease, type SignedHead, signHead } from '../../survey/audit/signed-head.ts'
import { runCommand } from '../../testing/command-run.ts'
import { type ControlledCluster, onCluster } from '../../testing/controlled-cluster.ts'
import { memoryDisk } from '../../testing/memory-disk.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { register } from './audit.ts'

const log = '/d/decisions.log'

interface Decided extends Pick<ControlledCluster, 'admin' | 'clock'> {
  disk: ReturnType<typeof memoryDisk>
}

/** A cluster that has decided three requests, and the log of it. */
const afterDecisions = (run: (decided: Decided) => Promise<void>) =>
  onCluster(async cluster => {
    const disk = memoryDisk()
    const running = await cluster.start({ decisionLog: { path: log, disk } })
    await cluster.register('a', [
      ['InternalIP', '10.0.0.1'],
      ['InternalIP', 'fd00::1'],
    ])
    for (const node of ['a', 'b']) await cluster.ask({ by: cluster.bootstrapper, node })
    await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1', 'fd00::1'] })
    await running.stop()
    await run({ ...cluster, disk })
  })

const audit = ({ admin, clock, disk }: Decided, ...words: string[]) =>
  runCommand((program, io) => register(program, io, disk), admin, clock, 'audit', ...words)

test(
  'verify: a whole log that ends where its head says is 0, one that nobody published 4',
  afterDecisions(async cluster => {
    const whole = await audit(cluster, 'verify', '--log', log)
    assert.equal(whole.exitCode, 0, whole.stdout)
    assert.match(
      whole.stdout,
      /4 entries, chain [0-9a-f]{16} up to 4\n.*head 4 of .*signed by key [0-9a-f]{64}\n {2}whole\n$/s,
    )
    const key = /key ([0-9a-f]{64})/.exec(whole.stdout)?.[1] ?? ''
    assert.equal((await audit(cluster, 'verify', '--log', log, '--key', key)).exitCode, 0)
    assert.equal((await audit(cluster, 'verify', '--log', log, '--key', key.replace(/^./, 'x'))).exitCode, 3)
    const offline = await audit(cluster, 'verify', '--log', log, '--offline')
    assert.deepEqual([offline.exitCode, /unchecked the published heads/.test(offline.stdout)], [4, true])
    await assert.rejects(audit(cluster, 'verify', '--log', `${log}.no`), error => hasCode(error, 'USAGE'))
  }),
)

test(
  'verify names the first broken entry, and entries that were cut off',
  afterDecisions(async cluster => {
    const text = (cluster.disk.files.get(log) ?? '').toString()
    cluster.disk.files.set(log, Buffer.from(text.replace('"node":"b"', '"node":"c"')))
    const changed = await audit(cluster, 'verify', '--log', log)
    assert.deepEqual(
      [changed.exitCode, /BROKEN at entry 3 \(.*decisions\.log:3\)/.test(changed.stdout)],
      [3, true],
    )
    assert.equal((await audit(cluster, 'find', '--log', log, '--node', 'a')).exitCode, 3)
    cluster.disk.files.set(log, Buffer.from(`${text.split('\n').slice(0, 3).join('\n')}\n`))
    const cut = await audit(cluster, 'verify', '--log', log)
    assert.deepEqual([cut.exitCode, /WRONG: entries 4 to 4 are missing/.test(cut.stdout)], [3, true])
  }),
)

test(
  'find tells what was decided about an address in any spelling, a node and a request; tail the latest',
  afterDecisions(async cluster => {
    const bySan = await audit(cluster, 'find', '--log', log, '--san', 'FD00:0::1', '-o', 'json')
    assert.deepEqual(
      JSON.parse(bySan.stdout).map((entry: { seq: number }) => entry.seq),
      [4],
    )
    const byNode = await audit(cluster, 'find', '--log', log, '--node', 'a')
    assert.match(
      byNode.stdout,
      /^SEQ +TIME +OUTCOME +REASON +REQUEST +NODE +SANS\n2 .*AutoApproved.*\n4 .*10\.0\.0\.1 \(NodeStatus\), fd00::1 \(NodeStatus\)\n$/,
    )
    const tail = await audit(cluster, 'tail', '--log', log, '-n', '1')
    assert.match(tail.stdout, /\n4 .*SansProven/)
    await assert.rejects(audit(cluster, 'find', '--log', log), error => hasCode(error, 'USAGE'))
  }),
)

/** The heads of the Lease as a receiver would have appended them. */
async function keepHeads({ admin, disk }: Decided, file: string): Promise<SignedHead[]> {
  const heads = await readHeads(admin)
  disk.files.set(file, Buffer.from(heads.map(head => `${JSON.stringify(head)}\n`).join('')))
  return heads
}

test(
  'verify --heads finds what was cut off of log and Lease alike, and tells lines and keys that do not fit',
  afterDecisions(async cluster => {
    const { disk, admin } = cluster
    const [head] = await keepHeads(cluster, '/kept')
    assert.ok(head)
    const verify = (...words: string[]) =>
      audit(cluster, 'verify', '--log', log, '--heads', '/kept', ...words)
    assert.equal((await verify('--offline')).exitCode, 0)
    const text = (disk.files.get(log) ?? '').toString()
    disk.files.set(log, Buffer.from(`${text.split('\n').slice(0, 3).join('\n')}\n`))
    await admin.delete(resources.leases, headLease)
    assert.equal((await audit(cluster, 'verify', '--log', log)).exitCode, 4, 'nobody knows')
    const cut = await verify()
    assert.deepEqual([cut.exitCode, /WRONG: entries 4 to 4 are missing/.test(cut.stdout)], [3, true])
    disk.files.set(log, Buffer.from(text))
    // Whoever may write to the receiver adds what he likes, but has another key.
    const forger = generateSigner('Ed25519', seededRandom(9))
    const forged = await signHead({ ...head, hash: '0'.repeat(64) }, head.time, forger)
    disk.files.set('/kept', Buffer.from(`${JSON.stringify(head)}\nhello\n${JSON.stringify(forged)}\n`))
    const both = await verify()
    assert.equal(both.exitCode, 3)
    assert.match(both.stdout, /unchecked line 2 of \/kept, which is no head\n/)
    assert.match(both.stdout, /unchecked chain [0-9a-f]{16}, whose heads are signed by 2 keys/)
    const key = /head 4 of .*signed by key ([0-9a-f]{64})/.exec((await verify('--offline')).stdout)?.[1]
    assert.ok(key !== undefined)
    await assert.rejects(audit(cluster, 'verify', '--log', log, '--heads', '/no'), error =>
      hasCode(error, 'USAGE'),
    )
  }),
)
