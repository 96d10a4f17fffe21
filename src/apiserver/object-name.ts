import type { Random } from '../ports.ts'

/** No vowels and nothing that looks like another character (apimachinery util/rand). */
const alphabet = 'bcdfghjklmnpqrstvwxz2456789'
const SUFFIX = 5
/** Kubernetes cuts the base so that the name fits a DNS label. */
const BASE = 63 - SUFFIX

/** A name for metadata.generateName: the base, cut to 58 characters, and five random ones. */
export function generateName(base: string, random: Random): string {
  let suffix = ''
  for (let n = 0; n < SUFFIX; n++) suffix += alphabet.charAt(Math.floor(random.float() * alphabet.length))
  return base.slice(0, BASE) + suffix
}

/** A random UUID, version 4 (RFC 9562). */
export function uuid(random: Random): string {
  const bytes = random.bytes(16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = Buffer.from(bytes).toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** metav1.Time: RFC 3339 in whole seconds. `time` in milliseconds since the epoch. */
export function timestamp(time: number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`
}
