import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeClient } from '../kube/client.ts'
import { isApproved, isIssued } from '../kube/csr-conditions.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import { readLogFiles } from '../survey/audit/log-files.ts'
import { verifyChain } from '../survey/audit/verify-chain.ts'
import { type ControlledCluster, calm, onCluster } from '../testing/controlled-cluster.ts'
import { flakyClient } from '../testing/flaky-client.ts'
import { memoryDisk } from '../testing/memory-disk.ts'
import { seededRandom } from '../testing/seeded-random.ts'

/** Seconds within which another replica has to decide. */
const handOver = 15

/** A replica that can be cut off from the API, and counts its approvals that were taken. */
async function startReplica(cluster: ControlledCluster, identity: string, approvals: Map<string, number>) {
  const counting: KubeClient = {
    ...cluster.controllerClient,
    update: (async (resource, object, options) => {
      const updated = await cluster.controllerClient.update(resource, object, options)
      const { name } = object.metadata
      if (options?.subresource === 'approval') approvals.set(name, (approvals.get(name) ?? 0) + 1)
      return updated
    }) as KubeClient['update'],
  }
  const client = flakyClient(counting, seededRandom(1), 0)
  const disk = memoryDisk()
  const running = await cluster.start({
    client,
    random: seededRandom(identity.length),
    leaderElection: { identity, namespace: 'kube-system', name: 'rollcall-controller' },
    decisionLog: { path: '/d/decisions.log', disk },
  })
  const decided = async () => {
    const names: string[] = []
    verifyChain(await readLogFiles('/d/decisions.log', disk), entry => {
      if (entry.kind === 'decision') names.push(entry.request.name)
    })
    return names
  }
  return { client, running, decided }
}

/** Requests whose certificate is there. */
async function issued({ admin }: ControlledCluster): Promise<string[]> {
  const { items } = await admin.list<CertificateSigningRequest>(resources.certificateSigningRequests)
  return items.filter(csr => isApproved(csr) && isIssued(csr)).map(({ metadata }) => metadata.name)
}

test(
  'M4: a leader that is cut off in the middle of its work is followed within 15 seconds, nothing is lost or decided twice',
  onCluster(async cluster => {
    const approvals = new Map<string, number>()
    const first = await startReplica(cluster, 'one', approvals)
    const second = await startReplica(cluster, 'three', approvals)
    const asked: string[] = []
    for (let count = 0; count < 40; count++) {
      // Between a request and its answer; what was under way may or may not have been taken.
      if (count === 20) first.client.faults = Number.POSITIVE_INFINITY
      asked.push(await cluster.ask({ by: cluster.bootstrapper, node: `n${count}` }))
      await cluster.clock.advance(10)
    }
    assert.ok((await issued(cluster)).length < asked.length)
    await cluster.clock.advance(handOver * 1000 - 200)
    await calm()
    assert.deepEqual((await issued(cluster)).toSorted(), asked.toSorted())
    assert.deepEqual([...approvals.values()], Array(asked.length).fill(1))
    const [before, after] = [await first.decided(), await second.decided()]
    assert.ok(before.length > 0 && after.length > 0)
    // Kept before it is written: what the first one wrote down last, it may not have been able to write.
    assert.ok(before.filter(name => after.includes(name)).length <= 1)
  }),
)

test(
  'a leader that is stopped is followed within seconds',
  onCluster(async cluster => {
    const approvals = new Map<string, number>()
    const first = await startReplica(cluster, 'one', approvals)
    await startReplica(cluster, 'three', approvals)
    await first.running.stop()
    const name = await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.clock.advance(4_000)
    await calm()
    assert.equal(await cluster.fate(name), 'Approved AutoApproved, issued')
  }),
)
