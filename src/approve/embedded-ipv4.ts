/** IPv6 addresses that stand for an IPv4 address: who holds the one is reached by the other. */
import { contains, parseRange } from './ip-range.ts'

/** Where the four bytes are in each form. */
const forms = [
  { range: parseRange('64:ff9b::/96'), name: 'NAT64', at: 12 },
  { range: parseRange('2002::/16'), name: '6to4', at: 2 },
  { range: parseRange('::/96'), name: 'IPv4-compatible', at: 12 },
  { range: parseRange('::ffff:0:0:0/96'), name: 'IPv4-translated', at: 12 },
]

export interface EmbeddedIpv4 {
  /** 4 bytes. */
  bytes: Uint8Array
  /** The name of the form, e.g. `NAT64`. */
  form: string
}

/** The IPv4 address inside; undefined for plain IPv6 and IPv4 addresses (an IPv4-mapped one is compared as IPv4 anyway). */
export function embeddedIpv4(address: Uint8Array): EmbeddedIpv4 | undefined {
  if (address.length !== 16) return undefined
  const form = forms.find(({ range }) => contains(range, address))
  if (!form) return undefined
  const bytes = address.slice(form.at, form.at + 4)
  // :: and ::1 are addresses of their own.
  if (form.name === 'IPv4-compatible' && bytes[0] === 0 && bytes[1] === 0 && bytes[2] === 0) return undefined
  return { bytes, form: form.name }
}
