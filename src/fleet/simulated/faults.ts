import type { NetworkFaults } from './network.ts'
import type { SeededRandom } from './random.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

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

export interface FaultPlan {
  random: SeededRandom
  /** Milliseconds since the epoch between which faults happen; all of them are over at `until`. */
  from: number
  until: number
  nodes: number
  /** Milliseconds between two faults, on average. */
  meanGap: number
  /** Kinds to draw from; absent: all. */
  kinds?: readonly FaultKind[]
}

/** A schedule of faults, in order of time: the same for the same stream of chance. */
export function drawFaults(plan: FaultPlan): Fault[] {
  const { random, until } = plan
  const kinds = plan.kinds ?? (Object.keys(weights) as FaultKind[])
  const bag = kinds.flatMap(kind => Array.from({ length: weights[kind] }, () => kind))
  const faults: Fault[] = []
  for (let at = plan.from + random.gap(plan.meanGap); at < until; at += random.gap(plan.meanGap)) {
    const fault = drawFault(random.pick(bag), at, plan)
    faults.push({ ...fault, lasts: Math.min(fault.lasts, until - at) })
  }
  return faults
}

function drawFault(kind: FaultKind, at: number, { random, nodes }: FaultPlan): Fault {
  const node = random.integer(0, nodes - 1)
  switch (kind) {
    case 'agent killed':
    case 'power cut':
      return { kind, at, node, lasts: downtime(random) }
    case 'disk full':
    case 'disk read-only':
    case 'disk slow':
      return { kind, at, node, lasts: random.gap(2 * hour) }
    case 'cut off':
      return { kind, at, node, lasts: downtime(random) }
    case 'agent clock jump':
      return { kind, at, node, by: clockError(random), lasts: random.gap(6 * hour) }
    case 'control plane clock jump':
      return { kind, at, by: clockError(random), lasts: random.gap(2 * hour) }
    case 'bad network':
      return { kind, at, lasts: random.gap(hour), faults: drawNetworkFaults(random) }
    default:
      return { kind, at, lasts: downtime(random) }
  }
}

/** Mostly seconds, sometimes hours, rarely longer than a certificate of 24 hours lives. */
function downtime(random: SeededRandom): number {
  const scale = random.pick([second, 10 * second, minute, minute, 10 * minute, hour, 10 * hour])
  return random.chance(0.03) ? 30 * hour : random.gap(scale)
}

/** Milliseconds, ahead or behind: a bad quartz, a wrong time zone, a wrong day. */
function clockError(random: SeededRandom): number {
  const size = random.gap(random.pick([second, minute, 10 * minute, hour, 12 * hour]))
  return Math.round(random.chance(0.5) ? size : -size)
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
