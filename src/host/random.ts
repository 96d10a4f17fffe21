import { randomBytes } from 'node:crypto'
import type { Random } from '../ports.ts'

export const systemRandom: Random = {
  bytes: length => new Uint8Array(randomBytes(length)),
  // 53 bits, as Math.random, but from the same strong source.
  float: () => Number(randomBytes(8).readBigUInt64BE() >> 11n) / 2 ** 53,
}
