import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSeed } from '../../src/fleet/simulated/scenario.ts'
import { freshCluster } from './fresh-cluster.ts'
import { failureReport } from './report.ts'

/** More of them: ROLLCALL_SEEDS=100000 npm run simulate (run-seeds.ts). */
const SEEDS = 300

test(`crashes, lost messages, full disks and wrong clocks of ${SEEDS} seeds leave every node with valid certificates`, async () => {
  const foundation = await freshCluster()
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const outcome = await runSeed({ foundation, seed: String(seed) })
    assert.deepEqual(outcome.troubles, [], failureReport(outcome))
  }
})
