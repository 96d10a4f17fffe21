import assert from 'node:assert/strict'
import { test } from 'node:test'
import { report } from '../../rollover/testing/variants.ts'
import { runFleetSchedule } from './testing/fleet-schedule.ts'

test('I1 to I14 hold in 60 seeded schedules with real keys, bundles, certificates and handshakes', async () => {
  const ends = new Set<string>()
  for (let seed = 1; seed <= 60; seed += 1) {
    const outcome = await runFleetSchedule(seed)
    assert.equal(outcome.violation, undefined, report(seed, outcome))
    ends.add(outcome.phase)
  }
  assert.deepEqual([...ends].sort(), ['Aborted', 'Done', 'RolledBack'])
})
