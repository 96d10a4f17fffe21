import { SeededRandom } from '../../src/fleet/simulated/random.ts'

/** What is done to the files of some nodes while nothing runs, so that the next start has certificates to fetch. */
export type Damage =
  | 'none'
  | 'lapse'
  | 'lose the client pair'
  | 'lose the serving pair'
  | 'lose everything'
  | 'tear'

export type Victim = 'parent' | 'fleet' | 'both'

export interface Round {
  number: number
  damage: Damage
  /** Indexes of the nodes it hits, from 1. */
  damaged: number[]
  victim: Victim
  /** The kill's time counts from the start of `up` (or of the round when it still runs), of its fleet, or from its ready line. */
  from: 'start' | 'fleet' | 'ready'
  /** Milliseconds. */
  after: number
}

/** What one data directory lives through, one kill a round. */
export type Life = Round[]

const damages: readonly Damage[] = [
  'none',
  'lapse',
  'lose the client pair',
  'lose the serving pair',
  'lose everything',
  'tear',
]

/** `times` rounds in lives of 3 to 12; the same seed gives the same plan (the moments, not what they hit). */
export function plan(seed: string, times: number, nodes: number): Life[] {
  const random = new SeededRandom(`crash ${seed}`)
  const lives: Life[] = []
  for (let number = 1; number <= times; ) {
    const rounds = Math.min(random.integer(3, 12), times - number + 1)
    const life: Life = []
    while (life.length < rounds) life.push(planRound(number++, life.at(-1), nodes, random))
    lives.push(life)
  }
  return lives
}

function planRound(number: number, before: Round | undefined, nodes: number, random: SeededRandom): Round {
  const all = Array.from({ length: nodes }, (_, index) => index + 1)
  const damage = random.pick(damages)
  const damaged = all.filter(() => random.chance(0.6))
  const victim = random.pick(['parent', 'fleet', 'both'] as const)
  const from = random.chance(0.3) ? 'ready' : victim === 'fleet' || random.chance(0.3) ? 'fleet' : 'start'
  // A start takes about a second of CPU: half the moments lie in start, joining and renewal, half in the quiet after.
  const after = Math.round(random.between(0, { start: 1600, fleet: 800, ready: 800 }[from]))
  // A new directory has nothing to damage, and after the fleet alone was killed everything runs on.
  const untouched = before === undefined || before.victim === 'fleet' || damaged.length === 0
  return { number, damage: untouched ? 'none' : damage, damaged, victim, from, after }
}

export function describeRound({ number, damage, damaged, victim, from, after }: Round): string {
  const nodes = damage === 'none' ? '' : ` (workers ${damaged.join(' ')})`
  return `round ${number}: damage ${damage}${nodes}; kill -9 ${victim} ${after} ms after ${from}`
}
