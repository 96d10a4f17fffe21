import type { Random } from '../ports.ts'

/** Reproducible chance for tests (mulberry32); never for keys. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }
  return {
    float: () => next() / 2 ** 32,
    bytes: length => Uint8Array.from({ length }, () => next() & 0xff),
  }
}
