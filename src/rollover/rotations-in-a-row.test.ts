import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trustRoles } from '../kube/rollcall/trust-bundle.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { finalPhases } from './plan.ts'
import { authorityPool } from './simulated/authority-pool.ts'
import { brokenInvariants } from './simulated/invariants.ts'
import { none } from './simulated/mutations.ts'
import { runOnce, twoOrchestrators } from './simulated/orchestrator.ts'
import { anchorsOf, beginNext, newWorld } from './simulated/world.ts'
import { everybodyActs } from './testing/schedule.ts'

for (const role of trustRoles)
  test(`three rotations of ${role} in a row leave nothing of the CAs before`, async () => {
    const world = newWorld({ pool: await authorityPool(4, seededRandom(77)), role })
    const [leader] = twoOrchestrators()
    const random = seededRandom(3)
    for (const to of [2, 3, 4]) {
      for (let round = 0; round < 200 && !finalPhases.has(world.store.plan.phase); round += 1) {
        everybodyActs(world, random)
        runOnce(world, leader, none)
        assert.deepEqual(brokenInvariants(world), [])
      }
      assert.deepEqual([world.store.plan.phase, world.store.plan.to], ['Done', to])
      for (const { generation } of world.sinks) assert.deepEqual(anchorsOf(world, generation), [to])
      for (const { leaf } of world.members) assert.equal(leaf?.authority ?? to, to)
      if (to < 4) beginNext(world)
    }
  })
