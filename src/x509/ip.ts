/** Reads an address by the rules of Go's net.ParseIP: 4 or 16 bytes; no zone, no prefix, no leading zeros in IPv4. */
export function parseIp(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text)
}

/** Prints an address as Go does: RFC 5952, and an IPv4-mapped IPv6 address as IPv4. */
export function formatIp(bytes: Uint8Array): string {
  const short = unmapped(bytes)
  return short.length === 4 ? `${short[0]}.${short[1]}.${short[2]}.${short[3]}` : formatIpv6(short)
}

/** Whether both are the same address; an IPv4 address equals its IPv4-mapped IPv6 form. */
export function sameIp(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(unmapped(a), unmapped(b)) === 0
}

/** The 4-byte form of an IPv4-mapped address, else the bytes as they are. */
export function unmapped(bytes: Uint8Array): Uint8Array {
  const mapped = bytes.length === 16 && bytes.subarray(0, 12).every((byte, i) => byte === (i < 10 ? 0 : 0xff))
  return mapped ? bytes.subarray(12) : bytes
}

function parseIpv4(text: string): Uint8Array | undefined {
  // Judgement reads the addresses of a Node again at each state of it: one pass, no list of parts.
  const bytes = new Uint8Array(4)
  let part = 0
  let digits = 0
  let value = 0
  for (let at = 0; at <= text.length; at++) {
    const digit = at < text.length ? text.charCodeAt(at) - 0x30 : dot
    if (digit >= 0 && digit <= 9) {
      if (digits > 0 && value === 0) return undefined
      value = value * 10 + digit
      if (value > 255) return undefined
      digits++
    } else {
      if (digit !== dot || digits === 0 || part > 3) return undefined
      bytes[part++] = value
      digits = 0
      value = 0
    }
  }
  return part === 4 ? bytes : undefined
}

/** As the digit it would be. */
const dot = '.'.charCodeAt(0) - 0x30

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [left, right] = [halves[0] ?? '', halves[1]]
  const head = groups(left, right === undefined)
  const tail = right === undefined ? [] : groups(right, true)
  if (head === undefined || tail === undefined) return undefined
  const missing = 16 - head.length - tail.length
  if (right === undefined ? missing !== 0 : missing < 2) return undefined
  return Uint8Array.from([...head, ...new Array<number>(missing).fill(0), ...tail])
}

/** Bytes of `a:b:…`, whose last group may be dotted IPv4 where the address ends with it. */
function groups(text: string, last: boolean): number[] | undefined {
  if (text === '') return []
  const parts = text.split(':')
  const bytes: number[] = []
  for (const [i, part] of parts.entries()) {
    const ipv4 = last && i === parts.length - 1 && part.includes('.') ? parseIpv4(part) : undefined
    if (ipv4 !== undefined) bytes.push(...ipv4)
    else if (/^[0-9a-fA-F]{1,4}$/.test(part))
      bytes.push(Number.parseInt(part, 16) >> 8, Number.parseInt(part, 16) & 0xff)
    else return undefined
  }
  return bytes
}

function formatIpv6(bytes: Uint8Array): string {
  const words = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0))
  const zeros = longestZeroRun(words)
  const hex = (part: number[]) => part.map(word => word.toString(16)).join(':')
  if (zeros.length < 2) return hex(words)
  return `${hex(words.slice(0, zeros.start))}::${hex(words.slice(zeros.start + zeros.length))}`
}

function longestZeroRun(words: number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 }
  for (let start = 0; start < words.length; start++) {
    let length = 0
    while (words[start + length] === 0) length++
    if (length > best.length) best = { start, length }
  }
  return best
}
