import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../simulated/random.ts'
import { RolloverFleet } from './rollover-fleet.ts'
import { unattended } from './unattended.ts'

test('seed 8: nine rollovers in a row, unattended but for a meeting of the trust roots before every fourth', async () => {
  const random = new SeededRandom('unattended 8')
  const fleet = await RolloverFleet.create({ nodes: 4, role: 'client', standbys: 4, random })
  const met: string[] = []
  for await (const { name, phase, metFirst } of unattended(fleet, 9, 4)) {
    assert.equal(phase, 'Done', name)
    assert.deepEqual([[...fleet.lost], fleet.broken], [[], []], name)
    if (metFirst) met.push(name)
  }
  // The first four were signed for at the beginning, the next four at the first meeting.
  assert.deepEqual(met, ['CA 5 -> CA 6', 'CA 9 -> CA 10'])
  assert.equal(fleet.bundles.ceremonies, 3)
})
