/** IPv6 addresses that stand for an IPv4 address: who holds the one is reached by the other. */
import { contains, parseRange } from './ip-range.ts'

interface Form {
  name: string
  range: ReturnType<typeof parseRange>
  /** Where the four bytes may be: RFC 6052 2.2 has them around the ninth, which is zero, depending on the prefix's length. */
  at: readonly (readonly [number, number, number, number])[]
}

const last = [12, 13, 14, 15] as const
const forms: readonly Form[] = [
  { range: parseRange('64:ff9b::/96'), name: 'NAT64', at: [last] },
  // RFC 8215: for each network's own use, with any prefix in it.
  {
    range: parseRange('64:ff9b:1::/48'),
    name: 'NAT64',
    at: [last, [6, 7, 9, 10], [7, 9, 10, 11], [9, 10, 11, 12]],
  },
  { range: parseRange('2002::/16'), name: '6to4', at: [[2, 3, 4, 5]] },
  { range: parseRange('::/96'), name: 'IPv4-compatible', at: [last] },
  { range: parseRange('::ffff:0:0:0/96'), name: 'IPv4-translated', at: [last] },
]
const teredo = parseRange('2001::/32')

export interface EmbeddedIpv4 {
  /** 4 bytes. */
  bytes: Uint8Array
  /** The name of the form, e.g. `NAT64`. */
  form: string
}

/** What IPv4 addresses may be inside; none for plain IPv6 and IPv4 addresses (an IPv4-mapped one is compared as IPv4 anyway). */
export function embeddedIpv4(address: Uint8Array): EmbeddedIpv4[] {
  if (address.length !== 16) return []
  const inside = (form: string, at: readonly number[]) => ({
    form,
    bytes: Uint8Array.from(at, index => address[index] ?? 0),
  })
  // RFC 4380 4: inverted, so that translators on the way leave it alone.
  if (contains(teredo, address))
    return [{ form: 'Teredo', bytes: inside('', last).bytes.map(byte => byte ^ 0xff) }]
  if (isIsatap(address)) return [inside('ISATAP', last)]
  const form = forms.find(({ range }) => contains(range, address))
  const found = form?.at.map(at => inside(form.name, at)) ?? []
  // :: and ::1 are addresses of their own; of several places that it may be in, most hold the prefix's zeros.
  const isOwn = ({ form, bytes: [first, second, third] }: EmbeddedIpv4) =>
    form === 'IPv4-compatible' ? !first && !second && !third : found.length > 1 && !first
  return found.filter(one => !isOwn(one))
}

/** RFC 5214 6.1: by its interface identifier, under any prefix. */
function isIsatap(address: Uint8Array): boolean {
  const [, , , , , , , , first = 0, ...rest] = address
  return (first & ~0x02) === 0 && rest[0] === 0 && rest[1] === 0x5e && rest[2] === 0xfe
}
