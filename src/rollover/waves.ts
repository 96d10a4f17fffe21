/** Who acts when: one node first, then 1 %, 10 %, 25 %, the rest, each wave spread out in time (3.6). */
import { createHash } from 'node:crypto'
import type { Plan, Wave } from './plan.ts'

const shares = [0, 0.01, 0.1, 0.25]
/** Milliseconds a node at a full 1000 nodes an hour: faster, a fleet's kubelets knock their API over. */
const pace = 3600
/** A wave stands in the object's status: this many members are about 60 kB, and an hour's work. */
const mostInWave = 1000
/** Share of a wave, but one at least, that may fail before everything stops. */
const tolerated = 0.02

export interface WaveFacts {
  /** Ids of those that still have to act and can, sorted. */
  candidates: readonly string[]
  /** All that will have acted in the end. */
  population: number
  /** How many may act at one time. */
  room: number
  /** Emergency: one wave of all. */
  all: boolean
  /** No new wave now. */
  hold: boolean
  now: number
}

/** The wave that should be under way: the present one until all of its members have acted, then the next. */
export function waveNow(plan: Plan, facts: WaveFacts): Wave | undefined {
  const { candidates, room, now } = facts
  const waiting = new Set(candidates)
  const { wave } = plan
  // A wave planned by a clock that was ahead would begin when that time comes: it is planned anew.
  const ahead = wave !== undefined && wave.since > now
  if (!ahead && wave?.members.some(({ consumer }) => waiting.has(consumer))) return wave
  if (facts.hold || candidates.length === 0) return wave
  const number = (wave?.number ?? 0) + 1
  const size = Math.min(
    facts.all ? candidates.length : sizeOf(number, facts.population),
    room,
    candidates.length,
  )
  if (size < 1) return wave
  const span = spanOf(size, plan)
  const members = candidates.slice(0, size).map(consumer => {
    return { consumer, notBefore: now + Math.floor(span * chance(plan.id, consumer, number)) }
  })
  return { number, since: now, members }
}

/** Whether more of the wave failed than is tolerated. */
export function hasFailed({ members }: Wave, failed: number): boolean {
  return failed > Math.max(1, members.length * tolerated)
}

/** Whether members of the wave have not acted though their time is long over. */
export function isOverdue(plan: Plan, candidates: readonly string[], now: number): boolean {
  const { wave } = plan
  if (!wave || now - wave.since <= spanOf(wave.members.length, plan) + plan.policy.timings.wave) return false
  const waiting = new Set(candidates)
  return wave.members.some(({ consumer }) => waiting.has(consumer))
}

function sizeOf(number: number, population: number): number {
  const share = shares[number - 1]
  const wanted = share === undefined ? population : Math.max(1, Math.floor(share * population))
  return Math.min(mostInWave, wanted)
}

function spanOf(size: number, { policy }: Plan): number {
  return size <= 1 ? 0 : Math.max(policy.timings.jitter, size * pace)
}

/** Uniform in [0, 1), the same whenever it is asked: a step said again gives the same order. */
function chance(...of: readonly (string | number)[]): number {
  return createHash('sha256').update(JSON.stringify(of)).digest().readUInt32BE(0) / 2 ** 32
}
