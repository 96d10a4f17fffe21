import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rotationPhases } from '../kube/rollcall/ca-rotation.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { authorityPool } from './simulated/authority-pool.ts'
import { report, runVariant } from './testing/variants.ts'

test('I1 to I14 hold in 300 seeded schedules of each role, bridged or not, planned or in an emergency', async () => {
  const pool = await authorityPool(4, seededRandom(77))
  const visited = new Set<string>()
  const ends = new Set<string>()
  const reasons = new Set<string>()
  for (let seed = 1; seed <= 300; seed += 1) {
    const outcome = runVariant(pool, seed)
    assert.equal(outcome.violation, undefined, report(seed, outcome))
    for (const phase of outcome.visited) visited.add(phase)
    for (const reason of outcome.reasons) reasons.add(reason)
    ends.add(outcome.phase)
  }
  // A model that never goes there proves nothing about it.
  const begun = new Set(['Preflight', 'Freezing'])
  assert.deepEqual(
    rotationPhases.filter(phase => !visited.has(phase) && !begun.has(phase)),
    [],
    'phases that no schedule went through',
  )
  const rare = [
    'AskedToPause',
    'AskedToRollBack',
    'DeadlineMode',
    'Exclusions',
    'Resumed',
    'TimedOut',
    'WaveTimedOut',
  ]
  assert.deepEqual(
    rare.filter(reason => !reasons.has(reason)),
    [],
  )
  assert.deepEqual([...ends].sort(), ['Aborted', 'Done', 'RolledBack'])
  assert((await pool.confirm()) >= 8, 'TLS decides as the path check did')
})
