import { randomFillSync } from 'node:crypto'
import type { Random } from '../ports.ts'

/** Asking the system costs the same for 16 bytes as for many, and a busy API server needs thousands of names a second. */
const POOL = 8192
/** What is longer is asked for by itself. */
const FROM_POOL = 256

const pool = new Uint8Array(POOL)
let used = POOL

function bytes(length: number): Uint8Array {
  if (length > FROM_POOL) return randomFillSync(new Uint8Array(length))
  if (used + length > POOL) {
    randomFillSync(pool)
    used = 0
  }
  const taken = pool.slice(used, used + length)
  // What was given away is known to nobody else: not even to a later reader of this memory.
  pool.fill(0, used, used + length)
  used += length
  return taken
}

export const systemRandom: Random = {
  bytes,
  // 53 bits, as Math.random, but from the same strong source.
  float: () => Number(Buffer.from(bytes(8)).readBigUInt64BE() >> 11n) / 2 ** 53,
}
