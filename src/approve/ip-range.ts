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

/** ::ffff:0:0/96 */
const mappedPrefix = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff)

/** The address in 16 bytes, IPv4 as IPv4-mapped. */
export function sixteen(address: Uint8Array): Uint8Array {
  return address.length === 16 ? address : Uint8Array.of(...mappedPrefix, ...address)
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

/** Whether the address (4 or 16 bytes) lies in the range. */
export function contains(range: IpRange, address: Uint8Array): boolean {
  const bytes = sixteen(address)
  return range.address.every((byte, index) => {
    const bits = Math.min(8, Math.max(0, range.bits - index * 8))
    const mask = (0xff << (8 - bits)) & 0xff
    return (byte & mask) === ((bytes[index] ?? 0) & mask)
  })
}
