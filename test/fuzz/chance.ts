import type { Random } from '../../src/ports.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'

/** What the grammars draw from. */
export interface Chance {
  random: Random
  /** True with this probability. */
  maybe(probability: number): boolean
  /** A whole number below `limit`. */
  below(limit: number): number
  pick<T>(choices: readonly T[]): T
  /** `make` called `below(most + 1)` times. */
  some<T>(most: number, make: () => T): T[]
}

/** Case `index` of a run draws the same whatever came before it. */
export function chanceOf(seed: number, index: number): Chance {
  const random = seededRandom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b))
  const below = (limit: number) => Math.floor(random.float() * limit)
  return {
    random,
    below,
    maybe: probability => random.float() < probability,
    pick: choices => choices[below(choices.length)] as never,
    some: (most, make) => Array.from({ length: below(most + 1) }, make),
  }
}
