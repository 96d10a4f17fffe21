import { createHash } from 'node:crypto'
import type { Random } from '../../ports.ts'

/**
 * Chance drawn from a seed: sfc32 (PractRand-tested, 128 bits of state). Each consumer gets a stream of its own by
 * name, so one that draws more or is new does not change what the others see. Not for keys of real clusters.
 */
export class SeededRandom implements Random {
  readonly #name: string
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: string) {
    this.#name = seed
    const state = createHash('sha256').update(seed).digest()
    this.#a = state.readUInt32LE(0) | 0
    this.#b = state.readUInt32LE(4) | 0
    this.#c = state.readUInt32LE(8) | 0
  }

  /** The stream called `name` of this one: always the same, however much was drawn before. */
  stream(name: string): SeededRandom {
    return new SeededRandom(`${this.#name}/${name}`)
  }

  bytes(length: number): Uint8Array {
    const bytes = new Uint8Array(length)
    let word = 0
    for (let index = 0; index < length; index += 1) {
      word = index % 4 === 0 ? this.#next() : word >>> 8
      bytes[index] = word & 0xff
    }
    return bytes
  }

  float(): number {
    // 53 bits, as Math.random.
    return ((this.#next() >>> 5) * 2 ** 26 + (this.#next() >>> 6)) / 2 ** 53
  }

  /** Uniform in [from, to). */
  between(from: number, to: number): number {
    return from + this.float() * (to - from)
  }

  /** A whole number in [from, to], both included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.float() * (to - from + 1))
  }

  /** True with this probability; draws nothing for 0. */
  chance(probability: number): boolean {
    return probability > 0 && this.float() < probability
  }

  pick<T>(choices: readonly T[]): T {
    if (choices.length === 0) throw new RangeError('nothing to pick from')
    return choices[this.integer(0, choices.length - 1)] as T
  }

  /** Exponentially distributed with this mean: the gap between events that come at a constant rate. */
  gap(mean: number): number {
    return -Math.log(1 - this.float()) * mean
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum
    this.#c |= 0
    return sum >>> 0
  }
}
