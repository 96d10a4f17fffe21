import { contains, parseRange, sixteen } from './ip-range.ts'

/** Addresses that mean something else on every host, so a certificate for them proves nothing. */
const everyHosts = [
  ['0.0.0.0/8', 'an unspecified'],
  ['::/128', 'an unspecified'],
  ['127.0.0.0/8', 'a loopback'],
  ['::1/128', 'a loopback'],
  ['169.254.0.0/16', 'a link-local'],
  ['fe80::/10', 'a link-local'],
  ['224.0.0.0/4', 'a multicast'],
  ['ff00::/8', 'a multicast'],
  ['255.255.255.255/32', 'a broadcast'],
].map(([text = '', what = '']) => ({ range: parseRange(text), what }))

/** `a loopback`, or undefined for an address that can be one host's. */
export function reservedAddress(address: Uint8Array): string | undefined {
  const bytes = sixteen(address)
  return everyHosts.find(({ range }) => contains(range, bytes))?.what
}
