import type { NetworkFaults } from './network.ts'
import type { SeededRandom } from './random.ts'

const second = 1000
const minute = 60 * second

/** What goes wrong with one node: its index, and for a clock jump by how many milliseconds. */
export type NodeFault =
  | {
      kind: 'agent killed' | 'power cut' | 'disk full' | 'disk read-only' | 'disk slow' | 'cut off'
      node: number
    }
  | { kind: 'agent clock jump'; node: number; by: number }

/** One thing that goes wrong at `at` (ms since the epoch, true time), for `lasts` ms. */
export type Fault = { at: number; lasts: number } & (
  | NodeFault
  | { kind: 'api killed' | 'api power cut' | 'api disk full' | 'controllers killed' | 'controllers cut off' }
  | { kind: 'control plane clock jump'; by: number }
  | { kind: 'bad network'; faults: NetworkFaults }
)

export type FaultKind = Fault['kind']

/** How often each kind is drawn, relative to the others. */
const weights: Record<FaultKind, number> = {
  'agent killed': 4,
  'power cut': 4,
  'disk full': 2,
  'disk read-only': 1,
  'disk slow': 1,
  'cut off': 3,
  'agent clock jump': 3,
  'api killed': 4,
  'api power cut': 2,
  'api disk full': 1,
  'controllers killed': 3,
  'controllers cut off': 1,
  'control plane clock jump': 1,
  'bad network': 4,
}

export const allKinds = Object.keys(weights) as FaultKind[]

export interface FaultPlan {
  random: SeededRandom
  /** Milliseconds since the epoch between which faults happen; all of them are over at `until`. */
  from: number
  until: number
  nodes: number
  /** Milliseconds between two faults, on average. */
  meanGap: number
  /** Milliseconds that a certificate lives: outages and clock errors are drawn in its measure. */
  lifetime: number
  /** Kinds to draw from; absent: all. */
  kinds?: readonly FaultKind[]
}

/** A schedule of faults, in order of time: the same for the same stream of chance. */
export function drawFaults(plan: FaultPlan): Fault[] {
  const { random, until } = plan
  const kinds = plan.kinds ?? allKinds
  const bag = kinds.flatMap(kind => Array.from({ length: weights[kind] }, () => kind))
  const faults: Fault[] = []
  for (let at = plan.from + random.gap(plan.meanGap); at < until; at += random.gap(plan.meanGap)) {
    const fault = drawFault(random.pick(bag), at, plan)
    faults.push({ ...fault, lasts: Math.min(fault.lasts, until - at) })
  }
  return faults
}

function drawFault(kind: FaultKind, at: number, { random, nodes, lifetime }: FaultPlan): Fault {
  const node = random.integer(0, nodes - 1)
  switch (kind) {
    case 'agent killed':
    case 'power cut':
      return { kind, at, node, lasts: downtime(random, lifetime) }
    case 'disk full':
    case 'disk read-only':
    case 'disk slow':
      return { kind, at, node, lasts: random.gap(lifetime / 10) }
    case 'cut off':
      return { kind, at, node, lasts: downtime(random, lifetime) }
    case 'agent clock jump':
      return { kind, at, node, by: clockError(random, lifetime), lasts: random.gap(lifetime / 4) }
    case 'control plane clock jump':
      return { kind, at, by: clockError(random, lifetime), lasts: random.gap(lifetime / 10) }
    case 'bad network':
      return { kind, at, lasts: random.gap(lifetime / 10), faults: drawNetworkFaults(random) }
    default:
      return { kind, at, lasts: downtime(random, lifetime) }
  }
}

/** Mostly seconds or minutes, rarely longer than a certificate lives. */
function downtime(random: SeededRandom, lifetime: number): number {
  if (random.chance(0.04)) return 1.2 * lifetime
  return random.gap(random.pick([second, 10 * second, minute, lifetime / 50, lifetime / 10]))
}

/** The longest clock error that is drawn, in lifetimes of a certificate. */
const LONGEST_CLOCK_ERROR = 2

/** Milliseconds, ahead or behind: a bad quartz, a wrong time zone, a wrong day. */
function clockError(random: SeededRandom, lifetime: number): number {
  const size = random.gap(random.pick([second, minute, lifetime / 10, lifetime / 2, lifetime]))
  const capped = Math.round(Math.min(size, LONGEST_CLOCK_ERROR * lifetime))
  return random.chance(0.5) ? capped : -capped
}

function drawNetworkFaults(random: SeededRandom): NetworkFaults {
  const some = () => (random.chance(0.5) ? random.between(0, 0.3) : 0)
  return {
    lostRequest: some(),
    lostAnswer: some(),
    duplicated: some(),
    delayed: some(),
    longestDelay: random.gap(20 * second),
    meanStreamLife: random.chance(0.5) ? random.gap(10 * minute) : Number.POSITIVE_INFINITY,
  }
}
