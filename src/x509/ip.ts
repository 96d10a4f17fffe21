/** Reads an address by the rules of Go's net.ParseIP: 4 or 16 bytes; no zone, no prefix, no leading zeros in IPv4. */
export function parseIp(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text)
}

/** Prints an address as Go does: RFC 5952, and an IPv4-mapped IPv6 address as IPv4. */
export function formatIp(bytes: Uint8Array): string {
  const short = unmapped(bytes)
  return short.length === 4 ? short.join('.') : formatIpv6(short)
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
  const parts = text.split('.')
  const valid =
    parts.length === 4 && parts.every(part => /^(0|[1-9][0-9]{0,2})$/.test(part) && Number(part) < 256)
  return valid ? Uint8Array.from(parts, Number) : undefined
}

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
