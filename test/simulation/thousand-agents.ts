// API, controllers and a thousand agents run in one process: all join within a minute, and hold both certificates. A program: it exits with 1 when that does not hold.
import assert from 'node:assert/strict'
import { troubles } from '../../src/fleet/simulated/judge.ts'
import { paceOf } from '../../src/fleet/simulated/scenario.ts'
import { createWorld, startWorld } from '../../src/fleet/simulated/world.ts'
import { freshCluster } from './fresh-cluster.ts'

const hour = 3_600_000
const NODES = 1000

const foundation = await freshCluster()
const world = createWorld({
  foundation,
  seed: 'a thousand agents',
  nodes: NODES,
  certificateLifetimeSeconds: 24 * 3600,
  ...paceOf(24 * 3600),
})
startWorld(world, 60_000)
await world.time.runUntil(foundation.start + 2 * hour)
assert.deepEqual(troubles(world), [])
assert.equal(world.issuance.issued.size, 2 * NODES)
for (const [whose, count] of world.issuance.issued)
  assert.equal(count, 1, `${whose} got ${count} certificates`)
