/** One process that runs the production step, with all that can happen to a process. */
import type { Random } from '../../ports.ts'
import type { Observations } from '../observations.ts'
import type { Plan } from '../plan.ts'
import { ordersOf, step } from '../step.ts'
import { carryOut } from './carry-out.ts'
import { brokenByPause } from './invariants.ts'
import type { Mutation } from './mutations.ts'
import { observe } from './observe.ts'
import type { World } from './world.ts'

export interface Orchestrator {
  id: number
  /** The token it believes to hold. */
  token: number
  cache?: { plan: Plan; version: number; seen: Observations }
}

export interface RunFaults {
  /** Decides by what it knew at its last run. */
  stale?: boolean
  /** Ends after it has stored the plan, before any order. */
  crashAfterStore?: boolean
  /** Orders that are lost on the way, each by itself. */
  loses?: () => boolean
}

/** Reads, decides, stores, orders: as the controller does. */
export function runOnce(world: World, by: Orchestrator, mutation: Mutation, faults: RunFaults = {}): void {
  if (!faults.stale || by.cache === undefined) {
    const seen = mutation.sees(observe(world, by.token), world)
    by.cache = { ...world.store, seen }
  }
  const { plan, version, seen } = by.cache
  const wished = { ...plan, wishes: world.wishes }
  const now = world.now + world.clockError
  const decided = step(wished, {
    ...seen,
    now,
    leader: { identity: `orchestrator-${by.id}`, token: by.token },
  })
  const changed = decided.plan.sequence !== plan.sequence
  if (changed) {
    if (world.store.version !== version) return // another one was there first: nothing is done
    if (decided.plan.fencing < world.store.plan.fencing) world.violations.push('I7: an older leader wrote')
    world.store = { plan: decided.plan, version: version + 1 }
    by.cache = { plan: decided.plan, version: version + 1, seen }
    if (faults.crashAfterStore) {
      delete by.cache
      return
    }
  }
  const orders = mutation.orders(ordersOf(decided), changed, world)
  world.violations.push(...brokenByPause(decided.plan, orders))
  for (const order of orders) if (!faults.loses?.()) carryOut(world, order)
}

/** Takes the lease: the other one does not know yet. */
export function takeLease(world: World, by: Orchestrator): void {
  world.lease = { holder: by.id, token: world.lease.token + 1 }
  by.token = world.lease.token
  delete by.cache
}

export function twoOrchestrators(): [Orchestrator, Orchestrator] {
  return [
    { id: 0, token: 1 },
    { id: 1, token: 0 },
  ]
}

export function someFaults(random: Random): RunFaults {
  const dice = random.float()
  if (dice < 0.15) return { stale: true }
  if (dice < 0.25) return { crashAfterStore: true }
  if (dice < 0.4) return { loses: () => random.float() < 0.5 }
  return {}
}
