import { drawFaults, type FaultKind } from './faults.ts'
import type { Foundation } from './foundation.ts'
import { injectFaults } from './inject.ts'
import { troubles } from './judge.ts'
import { SeededRandom } from './random.ts'
import { createWorld, startWorld, type World } from './world.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** What one seed came to. */
export interface Outcome {
  seed: string
  /** SHA-256 over all events. */
  digest: string
  /** Empty when every invariant holds. */
  troubles: string[]
  /** The last events, for a report. */
  tail: string
  events: number
  simulatedDays: number
}

export interface RunOptions {
  foundation: Foundation
  seed: string
  kinds?: readonly FaultKind[]
  onLine?(line: string): void
}

/** Agents that look after themselves less often than real ones: a simulated day then costs milliseconds. */
export const calmAgent = {
  leaseRenewIntervalSeconds: 3600,
  leaseDurationSeconds: 3 * 3600,
  nodeStatusReportSeconds: 6 * 3600,
  watchTimeoutSeconds: 6 * 3600,
  clockCheckSeconds: 600,
}

/**
 * A whole life drawn from the seed: some nodes join and rotate while parts crash, disks fill up, clocks jump and the
 * network misbehaves; then everything works again, and after some time every invariant must hold.
 */
export async function runSeed({ foundation, seed, kinds, onLine }: RunOptions): Promise<Outcome> {
  const random = new SeededRandom(seed).stream('scenario')
  const lifetime = random.pick([hour, 6 * hour, day, day])
  const troubledDays = random.integer(1, 3)
  const world = createWorld({
    foundation,
    seed,
    nodes: random.integer(3, 7),
    certificateLifetimeSeconds: lifetime / 1000,
    agent: calmAgent,
    ...(onLine && { onLine }),
  })
  startWorld(world, random.pick([1000, minute, hour]))
  const until = foundation.start + troubledDays * day
  const meanGap = random.pick([10 * minute, hour, 4 * hour])
  const faults = drawFaults({
    random: random.stream('faults'),
    from: foundation.start,
    until,
    nodes: world.nodes.length,
    meanGap,
    ...(kinds && { kinds }),
  })
  injectFaults(faults, world)
  return finish(world, seed, until + recoveryTime(lifetime))
}

/**
 * Milliseconds after the last fault within which everything must be well again: what was issued under a wrong clock is
 * replaced at the latest when it lapses, and a request that nobody saw is given up after 15 minutes (K-36).
 */
function recoveryTime(lifetime: number): number {
  return lifetime + 3 * hour
}

async function finish(world: World, seed: string, end: number): Promise<Outcome> {
  const found: string[] = []
  try {
    await world.time.runUntil(end)
    found.push(...troubles(world))
  } catch (error) {
    found.push(`an event failed: ${error instanceof Error ? error.stack : error}`)
  }
  return {
    seed,
    digest: world.digest.value(),
    troubles: found,
    tail: world.digest.tail(),
    events: world.time.events,
    simulatedDays: (world.time.now - world.foundation.start) / day,
  }
}
