import { allKinds, drawFaults, type FaultKind } from './faults.ts'
import type { Foundation } from './foundation.ts'
import { injectFaults, startUnlessRunning } from './inject.ts'
import { troubles } from './judge.ts'
import { SeededRandom } from './random.ts'
import { Thief } from './thief.ts'
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

/**
 * Programs that look after themselves in the measure of the certificates, so that a lifetime costs the same however long
 * it is: seconds.
 */
export function paceOf(lifetimeSeconds: number) {
  const watchTimeoutSeconds = Math.ceil(lifetimeSeconds / 4)
  return {
    watchTimeoutSeconds,
    bookmarkSeconds: Math.ceil(lifetimeSeconds / 12),
    agent: {
      watchTimeoutSeconds,
      leaseRenewIntervalSeconds: Math.ceil(lifetimeSeconds / 8),
      leaseDurationSeconds: Math.ceil(lifetimeSeconds / 2),
      nodeStatusReportSeconds: lifetimeSeconds,
      clockCheckSeconds: Math.ceil(lifetimeSeconds / 60),
    },
  }
}

/**
 * A whole life drawn from the seed: some nodes join and rotate while parts crash, disks fill up, clocks jump and the
 * network misbehaves; then everything works again, and after some time every invariant must hold.
 */
export async function runSeed({ foundation, seed, kinds, onLine }: RunOptions): Promise<Outcome> {
  const random = new SeededRandom(seed).stream('scenario')
  const lifetime = random.pick([1, 1, 1, 3]) * hour
  const { nodes, lifetimes, wholly } = drawSize(random.stream('size'))
  const hasThief = nodes > 1 && lifetime === hour && random.stream('has a thief').chance(0.4)
  const clockError = random.pick([0, 0, 1000, minute])
  const world = createWorld({
    foundation,
    seed,
    nodes,
    certificateLifetimeSeconds: lifetime / 1000,
    // Whether a certificate that another node holds has lapsed, the approver judges by its clock.
    clockError: hasThief ? 0 : clockError,
    ...paceOf(lifetime / 1000),
    ...(onLine && { onLine }),
  })
  startWorld(world, random.pick([1000, minute, lifetime / 2]))
  const until = foundation.start + lifetimes * lifetime
  const faults = drawFaults({
    random: random.stream('faults'),
    from: foundation.start,
    until,
    nodes: world.nodes.length,
    meanGap: lifetime / random.pick([2, 6, 12]),
    lifetime,
    kinds: kinds ?? allKinds.filter(kind => !hasThief || kind !== 'control plane clock jump'),
  })
  injectFaults(faults, world)
  if (hasThief) letIn(world, random.stream('thief'), until, lifetime)
  if (random.chance(0.3)) cutPowerAtRotations(world, random.stream('cuts at rotations'), until)
  // Most worlds are looked at until all is well, some to the end: what is well must stay so.
  const patience = recoveryTime(lifetime)
  return finish(world, seed, { from: until, to: until + patience, wholly })
}

/**
 * Most worlds are small, so that many schedules of faults are tried in the time of one large world: one lifetime holds
 * the join, the first certificate, its rotation, and whatever befalls them. `wholly`: whether the world is looked at
 * until its end.
 */
function drawSize(random: SeededRandom): { nodes: number; lifetimes: number; wholly: boolean } {
  if (random.chance(0.04))
    return { nodes: random.integer(3, 6), lifetimes: random.integer(2, 4), wholly: random.chance(0.5) }
  return { nodes: random.pick([1, 1, 2]), lifetimes: random.pick([1, 1, 2]), wholly: random.chance(0.1) }
}

/** One node tries to get what is the others'. */
function letIn(world: World, random: SeededRandom, until: number, lifetime: number): void {
  const { time, network, foundation, nodes } = world
  const node = random.pick(nodes)
  const victims = nodes.filter(other => other !== node)
  const meanGap = lifetime / random.pick([2, 6])
  world.thief = new Thief({ node, victims, time, network, foundation, random, until, meanGap })
  world.issuance.thief = node.name
  world.thief.start()
}

/**
 * Drawn times hardly ever fall into the milliseconds in which a node installs a certificate: so, for some certificates,
 * its power goes then.
 */
function cutPowerAtRotations(world: World, random: SeededRandom, until: number): void {
  world.issuance.onIssued = name => {
    const node = world.nodes.find(candidate => candidate.name === name)
    if (!node || world.time.now > until || !random.chance(0.15)) return
    world.time.after(random.between(0, 150), () => {
      node.cutPower()
      world.time.after(random.gap(30_000), () => startUnlessRunning(node))
    })
  }
}

/**
 * Milliseconds after the last fault within which everything must be well again: a clock that was wrong is asked about
 * every half hour, a request that nobody saw is given up after 15 minutes (K-36), and what a thief was certified for
 * stays its own until that certificate lapses.
 */
function recoveryTime(lifetime: number): number {
  return lifetime + hour
}

async function finish(
  world: World,
  seed: string,
  recovery: { from: number; to: number; wholly: boolean },
): Promise<Outcome> {
  const found: string[] = []
  const looks = recovery.wholly ? 1 : 16
  try {
    for (let look = 1; look <= looks; look += 1) {
      await world.time.runUntil(recovery.from + ((recovery.to - recovery.from) * look) / looks)
      found.splice(0, found.length, ...troubles(world))
      if (found.length === 0) break
    }
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
