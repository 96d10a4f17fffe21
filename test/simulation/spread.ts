// 5000 nodes that joined within one minute renew both certificates spread out: the busiest minute has at most three times the mean. A program: it exits with 1 when that does not hold.
import assert from 'node:assert/strict'
import { paceOf } from '../../src/fleet/simulated/scenario.ts'
import { createWorld, startWorld } from '../../src/fleet/simulated/world.ts'
import { signerNames } from '../../src/kube/types.ts'
import { freshCluster } from './fresh-cluster.ts'

const minute = 60_000
const hour = 60 * minute
const NODES = 5000

const foundation = await freshCluster()
const pace = paceOf(24 * 3600)
const world = createWorld({
  foundation,
  seed: 'spread',
  nodes: NODES,
  certificateLifetimeSeconds: 24 * 3600,
  ...pace,
  // A serving certificate needs the Node; what a node reports of itself in between is not the question here.
  agent: { ...pace.agent, leaseRenewIntervalSeconds: 48 * 3600, watchTimeoutSeconds: 48 * 3600 },
})
startWorld(world, minute)
await world.time.runUntil(foundation.start + 10 * minute)
assert.equal(world.issuance.issued.size, 2 * NODES, 'every node holds both certificates ten minutes after')
const signers = [signerNames.kubeletClient, signerNames.kubeletServing]
const joining = new Map(signers.map(signer => [signer, world.issuance.perMinute(signer).length]))
for (const [signer, minutes] of joining)
  assert.ok(minutes <= 2, `joining took ${minutes} minutes (${signer})`)

await world.time.runUntil(foundation.start + 22 * hour)
for (const signer of signers) {
  const renewals = world.issuance.perMinute(signer).slice(joining.get(signer))
  const sum = renewals.reduce((total, count) => total + count, 0)
  const mean = sum / renewals.length
  const busiest = Math.max(...renewals)
  assert.equal(sum, NODES, `every node has renewed once (${signer})`)
  assert.ok(busiest <= 3 * mean, `${signer}: ${busiest} in the busiest minute, ${mean.toFixed(1)} on average`)
}
