/** A set of CIDR ranges with owners, looked up by address in as many steps as there are distinct lengths. */
import { type IpRange, parseRange, sixteen } from './ip-range.ts'

export class IpPrefixes {
  /** By length in bits, by the prefix in hexadecimal. */
  readonly #owners = new Map<number, Map<string, Set<string>>>()

  add(range: IpRange, owner: string): void {
    const prefixes = this.#owners.get(range.bits) ?? new Map<string, Set<string>>()
    this.#owners.set(range.bits, prefixes)
    const key = prefixOf(range.address, range.bits)
    const owners = prefixes.get(key)
    if (owners) owners.add(owner)
    else prefixes.set(key, new Set([owner]))
  }

  remove(range: IpRange, owner: string): void {
    const prefixes = this.#owners.get(range.bits)
    const key = prefixOf(range.address, range.bits)
    const owners = prefixes?.get(key)
    owners?.delete(owner)
    if (owners?.size === 0) prefixes?.delete(key)
    if (prefixes?.size === 0) this.#owners.delete(range.bits)
  }

  get size(): number {
    return this.#owners.size
  }

  /** Owners of all ranges that the address (4 or 16 bytes) lies in. */
  ownersOf(address: Uint8Array): string[] {
    const bytes = sixteen(address)
    return [...this.#owners].flatMap(([bits, prefixes]) => [...(prefixes.get(prefixOf(bytes, bits)) ?? [])])
  }
}

/** The range that the text names, or undefined when it is none: what others wrote is no reason to stop. */
export function rangeOrNone(text: string): IpRange | undefined {
  try {
    return parseRange(text)
  } catch {
    return undefined
  }
}

function prefixOf(address: Uint8Array, bits: number): string {
  const masked = address.map((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8))
    return byte & (0xff << (8 - kept)) & 0xff
  })
  return Buffer.from(masked).toString('hex')
}
