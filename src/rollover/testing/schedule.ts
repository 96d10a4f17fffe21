/** One schedule: what happens and what orchestrators do in an order drawn from a seed, then a fair end. */
import type { Random } from '../../ports.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { gatesOf } from '../phases.ts'
import { finalPhases } from '../plan.ts'
import { prove } from '../simulated/carry-out.ts'
import { type EnvironmentOptions, happen, pass, synced, vouch } from '../simulated/environment.ts'
import { brokenInvariants } from '../simulated/invariants.ts'
import { type Mutation, none } from '../simulated/mutations.ts'
import { observe } from '../simulated/observe.ts'
import {
  type Orchestrator,
  runOnce,
  someFaults,
  takeLease,
  twoOrchestrators,
} from '../simulated/orchestrator.ts'
import {
  holdCeremony,
  issueTo,
  lastGeneration,
  newWorld,
  type World,
  type WorldOptions,
} from '../simulated/world.ts'

export interface Outcome {
  phase: string
  /** The first that broke, or that the fair end never came (I9). */
  violation?: string
  trace: readonly string[]
  /** Phases that the rotation went through. */
  visited: readonly string[]
  /** Why it moved. */
  reasons: readonly string[]
}

export interface ScheduleOptions extends WorldOptions {
  seed: number
  mutation?: Mutation
  /** Actions before the fair end. */
  actions?: number
  often?: EnvironmentOptions['often']
}

export function runSchedule({ mutation = none, often = {}, ...options }: ScheduleOptions): Outcome {
  const steps = scheduleOf(newWorld(options), { ...options, mutation, often })
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

export type ScheduleCourse = Pick<ScheduleOptions, 'seed' | 'mutation' | 'actions' | 'often'>

/**
 * The schedule of a seed in a world, one action after the other: after each it stops, so that the world can follow, before
 * it looks whether something broke.
 */
export function* scheduleOf(
  world: World,
  { seed, mutation = none, actions = 160, often = {} }: ScheduleCourse,
): Generator<undefined, Outcome> {
  const random = seededRandom(seed)
  const run: Run = { world, random, mutation, orchestrators: twoOrchestrators(), trace: [], often }
  if (world.store.plan.reason === 'Compromise') world.wishes = { ...world.wishes, confirmedBy: 'berta' }
  const quietly = random.float() < 0.5 ? 0 : Math.floor(random.float() * mostQuietRounds)
  return (yield* quiet(run, quietly)) ?? (yield* wild(run, actions)) ?? (yield* fairEnd(run))
}

interface Run {
  world: World
  random: Random
  mutation: Mutation
  orchestrators: readonly [Orchestrator, Orchestrator]
  trace: string[]
  often: NonNullable<EnvironmentOptions['often']>
}

type Part = Generator<undefined, Outcome | undefined>

/** So that what happens meets every phase, not the first ones only, it begins at a moment drawn by chance. */
const mostQuietRounds = 70
const enoughRounds = 200

function* quiet(run: Run, rounds: number): Part {
  for (let round = 0; round < rounds; round += 1) {
    const outcome = yield* fairRound(run, `quiet round ${round}`)
    if (outcome) return outcome.violation === undefined ? undefined : outcome
  }
  return undefined
}

function* wild(run: Run, actions: number): Part {
  const { world, trace } = run
  for (let index = 0; index < actions; index += 1) {
    trace.push(`${world.store.plan.phase}: ${act(run)}`)
    yield
    const [violation] = brokenInvariants(world)
    if (violation !== undefined) return outcomeOf(world, trace, violation)
  }
  return undefined
}

/** I9: faults end, everybody who is left is there and does its part; then the rotation must end. */
function* fairEnd(run: Run): Generator<undefined, Outcome> {
  const { world, orchestrators, trace } = run
  world.clockError = 0
  takeLease(world, orchestrators[0])
  for (const server of world.servers) server.healthy = true
  for (let round = 0; round < enoughRounds; round += 1) {
    const outcome = yield* fairRound(run, `fair round ${round}`)
    if (outcome) return outcome
  }
  return outcomeOf(world, trace, `I9: stuck in ${whyStuck(world)}`)
}

function whyStuck(world: World): string {
  const { plan } = world.store
  const gates = gatesOf(plan, observe(world, plan.fencing)).filter(({ open }) => !open)
  const blockers = gates.flatMap(gate =>
    gate.blockers.map(({ code, about }) => `${gate.name} ${code} ${about}`),
  )
  return [plan.paused?.reason ?? plan.phase, ...blockers].join(', ')
}

/** What ends the schedule, or undefined. */
function* fairRound({ world, orchestrators, random, mutation, trace }: Run, name: string): Part {
  if (finalPhases.has(world.store.plan.phase)) return outcomeOf(world, trace)
  world.wishes = { ...world.wishes, pause: false, resume: world.store.plan.sequence }
  everybodyActs(world, random)
  const { serverBundle = 0, bundle = 0 } = world.store.plan
  if (lastGeneration(world) < Math.max(serverBundle, bundle) + 2) holdCeremony(world)
  runOnce(world, orchestrators[0], mutation)
  trace.push(`${world.store.plan.phase}: ${name}`)
  yield
  const [violation] = brokenInvariants(world)
  return violation === undefined ? undefined : outcomeOf(world, trace, violation)
}

function act({ world, random, mutation, orchestrators, often }: Run): string {
  const dice = random.float()
  if (dice > 0.5) return happen(world, random, { nonMonotonic: mutation.nonMonotonic, often })
  const leader = orchestrators[world.lease.holder === 0 ? 0 : 1]
  const by = random.float() < 0.8 ? leader : orchestrators[random.float() < 0.5 ? 0 : 1]
  if (dice < 0.02) {
    takeLease(world, by)
    return `orchestrator ${by.id} leads with ${by.token}`
  }
  if (by.token === 0) return 'never led'
  const faults = someFaults(random)
  runOnce(world, by, mutation, faults)
  return `orchestrator ${by.id} ${JSON.stringify(faults)}`
}

/** What everybody does when nothing is in the way: take the newest bundle, load it, show it. */
export function everybodyActs(world: World, random: Random): void {
  for (const member of world.members) {
    member.online = true
    for (let times = 0; times < 2; times += 1) synced(world, member, random, { nonMonotonic: false })
    if (!member.orderable && member.kind === 'Pod' && member.loaded < member.disk) {
      member.instance += 1
      member.loaded = member.disk
    }
    // Who cannot be told to renew gets a new certificate from a human some day; who has none asks for one.
    if (world.signer.authority !== undefined && (!member.renewable || member.leaf === undefined))
      issueTo(world, member)
    if (member.proof?.level !== 3 || member.proof.instance !== String(member.instance))
      prove(world, member, 2, world.store.plan.to)
  }
  vouch(world)
  pass(world, 4 * 60_000)
}

function outcomeOf({ store }: World, trace: readonly string[], violation?: string): Outcome {
  const { plan } = store
  const visited = [...new Set(plan.history.map(({ to }) => to))]
  const reasons = [...new Set(plan.history.map(({ reason }) => reason))]
  return { phase: plan.phase, trace, visited, reasons, ...(violation === undefined ? {} : { violation }) }
}
