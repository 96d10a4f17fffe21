/** CIDR ranges over 16-byte addresses, so that 10.0.0.0/8 also holds ::ffff:10.0.0.1. */
import { RollcallError } from '../errors.ts'
import { parseIp } from '../x509/ip.ts'

export interface IpRange {
  text: string
  /** 16 bytes. */
  address: Uint8Array
  /** Bits of the 16 bytes that count, 0 to 128. */
  bits: number
}

/** The address in 16 bytes, IPv4 as IPv4-mapped. */
export function sixteen(address: Uint8Array): Uint8Array {
  if (address.length === 16) return address
  const bytes = new Uint8Array(16)
  bytes[10] = 0xff
  bytes[11] = 0xff
  bytes.set(address, 12)
  return bytes
}

/** `10.0.0.0/8`, `fd00::/8`. Throws RollcallError POLICY_INVALID when it is none. */
export function parseRange(text: string): IpRange {
  const [host = '', length = '', ...rest] = text.split('/')
  const address = parseIp(host)
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN
  if (!address || rest.length > 0 || !(bits <= (host.includes(':') ? 128 : 32)))
    throw new RollcallError('POLICY_INVALID', `"${text}" is no range; write it as 10.0.0.0/8 or fd00::/8`)
  return { text, address: sixteen(address), bits: host.includes(':') ? bits : bits + 96 }
}

/** The ranges that a policy names, parsed once for as long as the list lives. */
const parsed = new WeakMap<readonly string[], readonly IpRange[]>()

/** The first of the ranges that the address (4 or 16 bytes) lies in. Throws as `parseRange`. */
export function rangeAround(ranges: readonly string[] | undefined, address: Uint8Array): string | undefined {
  if (!ranges) return undefined
  const known = parsed.get(ranges) ?? ranges.map(parseRange)
  parsed.set(ranges, known)
  const bytes = sixteen(address)
  return known.find(range => contains(range, bytes))?.text
}

/** Whether the address (4 or 16 bytes) lies in the range. */
export function contains({ address: prefix, bits }: IpRange, address: Uint8Array): boolean {
  const bytes = sixteen(address)
  const whole = bits >> 3
  for (let index = 0; index < whole; index++) if (prefix[index] !== bytes[index]) return false
  const mask = (0xff << (8 - (bits & 7))) & 0xff
  return whole === 16 || ((prefix[whole] ?? 0) & mask) === ((bytes[whole] ?? 0) & mask)
}
