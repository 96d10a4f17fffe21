// A thousand days of 24-hour certificates: restarts, outages, wrong clocks and two lapses, and every node is well each midnight. A program: it exits with 1 when that does not hold.
import assert from 'node:assert/strict'
import type { Fault } from '../../src/fleet/simulated/faults.ts'
import { injectFaults } from '../../src/fleet/simulated/inject.ts'
import { troubles } from '../../src/fleet/simulated/judge.ts'
import { paceOf } from '../../src/fleet/simulated/scenario.ts'
import { createWorld, startWorld } from '../../src/fleet/simulated/world.ts'
import { freshCluster } from './fresh-cluster.ts'

const hour = 3_600_000
const day = 24 * hour
const DAYS = 1000
const NODES = 3

/** Some trouble every few days, each over at least nine hours before midnight, when all nodes are looked at. */
function schedule(start: number): Fault[] {
  const faults: Fault[] = []
  const at = (dayNumber: number, hours: number) => start + dayNumber * day + hours * hour
  for (let today = 1; today < DAYS; today += 1) {
    const node = Math.floor(today / 10) % NODES
    if (today % 10 === 1) faults.push({ kind: 'agent killed', node, at: at(today, 5), lasts: hour / 60 })
    if (today % 10 === 3) faults.push({ kind: 'power cut', node, at: at(today, 7), lasts: hour })
    if (today % 20 === 5) faults.push({ kind: 'api killed', at: at(today, 6), lasts: 2 * hour })
    if (today % 20 === 15) faults.push({ kind: 'controllers killed', at: at(today, 6), lasts: 2 * hour })
    // A correction forward by more than what is left, and one back by more than a whole life.
    if (today % 50 === 7)
      faults.push({ kind: 'agent clock jump', node, by: 12 * hour, at: at(today, 4), lasts: 8 * hour })
    if (today % 50 === 27)
      faults.push({ kind: 'agent clock jump', node, by: -30 * hour, at: at(today, 4), lasts: 8 * hour })
    if (today % 50 === 47) faults.push({ kind: 'disk full', node, at: at(today, 1), lasts: 12 * hour })
  }
  // One node is off until long after its certificates lapsed, and later the API is, until all have lapsed.
  faults.push({ kind: 'agent killed', node: 1, at: at(500, 1), lasts: 60 * hour })
  faults.push({ kind: 'api killed', at: at(700, 1), lasts: 60 * hour })
  return faults
}

/** Days at whose end the lapses of the schedule are not over. */
const lapsed = new Set([500, 501, 502, 700, 701, 702])

const foundation = await freshCluster()
const lifetimeSeconds = day / 1000
const pace = paceOf(lifetimeSeconds)
const world = createWorld({
  foundation,
  seed: 'a thousand days',
  nodes: NODES,
  certificateLifetimeSeconds: lifetimeSeconds,
  ...pace,
})
startWorld(world)
injectFaults(schedule(foundation.start), world)
for (let today = 0; today < DAYS; today += 1) {
  await world.time.runUntil(foundation.start + (today + 1) * day)
  if (lapsed.has(today)) continue
  assert.deepEqual(
    troubles(world),
    [],
    `at the end of day ${today}; the last events:\n${world.digest.tail()}`,
  )
}
// Renewed at 70 % at the earliest: 1000 / 0.7; what wrong clocks and lapses ask for besides stays below a tenth.
for (const [whose, count] of world.issuance.issued) {
  assert.ok(count > DAYS && count < (DAYS / 0.7) * 1.1, `${whose}: ${count} certificates in ${DAYS} days`)
}
