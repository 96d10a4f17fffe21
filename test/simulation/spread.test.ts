import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paceOf } from '../../src/fleet/simulated/scenario.ts'
import { createWorld, startWorld } from '../../src/fleet/simulated/world.ts'
import { signerNames } from '../../src/kube/types.ts'
import { freshCluster } from './fresh-cluster.ts'

const minute = 60_000
const hour = 60 * minute
const NODES = 5000

test('5000 nodes that joined within one minute renew spread out: the busiest minute has at most three times the mean', async () => {
  const foundation = await freshCluster()
  const pace = paceOf(24 * 3600)
  const world = createWorld({
    foundation,
    seed: 'spread',
    nodes: NODES,
    certificateLifetimeSeconds: 24 * 3600,
    ...pace,
  })
  startWorld(world, minute)
  await world.time.runUntil(foundation.start + hour)
  const joined = world.issuance.issued.size
  assert.equal(joined, 2 * NODES, 'every node holds both certificates an hour after')

  const before = world.issuance.perMinute(signerNames.kubeletClient).length
  await world.time.runUntil(foundation.start + 24 * hour)
  for (const signer of [signerNames.kubeletClient, signerNames.kubeletServing]) {
    const renewals = world.issuance.perMinute(signer).slice(before)
    const sum = renewals.reduce((total, count) => total + count, 0)
    const mean = sum / renewals.length
    const busiest = Math.max(...renewals)
    assert.ok(sum >= NODES, `${sum} renewals of ${signer}`)
    assert.ok(busiest <= 3 * mean, `${signer}: ${busiest} in one minute, ${mean.toFixed(1)} on average`)
  }
})
