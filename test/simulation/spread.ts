// 5000 nodes that joined within one minute renew spread out: the busiest minute has at most three times the mean. A program: it exits with 1 when that does not hold.
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
  // Client certificates alone: the other kind is spread by the same rule, and costs as much again.
  agent: { ...pace.agent, heartbeat: false, serverTLSBootstrap: false, watchTimeoutSeconds: 48 * 3600 },
})
const client = signerNames.kubeletClient
startWorld(world, minute)
await world.time.runUntil(foundation.start + 10 * minute)
assert.equal(world.issuance.issued.size, NODES, 'every node holds a certificate ten minutes after')
const joining = world.issuance.perMinute(client).length
assert.ok(joining <= 2, `joining took ${joining} minutes`)

await world.time.runUntil(foundation.start + 22 * hour)
const renewals = world.issuance.perMinute(client).slice(joining)
const sum = renewals.reduce((total, count) => total + count, 0)
const mean = sum / renewals.length
const busiest = Math.max(...renewals)
assert.equal(sum, NODES, 'every node has renewed once')
assert.ok(busiest <= 3 * mean, `${busiest} in the busiest minute, ${mean.toFixed(1)} on average`)
