import type { CertifiedHolder } from './evidence/live-certificate.ts'

/** Of an entry: four of the digest, the node's number and 1, the second at which the certificate ends. */
const WORDS = 6
const [NODE, UNTIL] = [4, 5]
/** Entries that there is room for at first. */
const FEWEST = 16
/** A table that is fuller is made anew, with room for half as many again. */
const FULLEST = 0.75
/** Seconds since the epoch: 2106. What lives longer counts until then. */
const LATEST = 0xffff_ffff

/** Tables, each for the keys that begin with one hexadecimal digit: while one of them is made anew there are two of that one alone. */
const TABLES = 16

/**
 * Which nodes hold a live certificate for which key. A year of requests has hundreds of thousands of keys: tables of
 * numbers take 32 to 48 bytes for each, Maps of strings ten times that. Of the SHA-256 of a key 124 bits are kept: to find
 * two keys that agree in them takes 2⁶² tries, and gives who finds them a denial.
 */
export class KeyHolders {
  readonly #tables = Array.from({ length: TABLES }, () => new KeyTable())

  /** `keyHash`: SHA-256 in hexadecimal. `until` and `now` in milliseconds since the epoch. */
  add(keyHash: string, nodeName: string, until: number, now: number): void {
    const seconds = Math.min(LATEST, Math.floor(until / 1000))
    if (until > now) this.#tableOf(keyHash)?.add(digestOf(keyHash), nodeName, seconds, now / 1000)
  }

  /** `now` in milliseconds since the epoch. */
  holders(keyHash: string, now: number): CertifiedHolder[] {
    const found = this.#tableOf(keyHash)?.holders(digestOf(keyHash)) ?? []
    return found
      .map(({ nodeName, until }) => ({ nodeName, until: until * 1000 }))
      .filter(({ until }) => until > now)
  }

  #tableOf(keyHash: string): KeyTable | undefined {
    return this.#tables[Number.parseInt(keyHash.charAt(0), 16)]
  }
}

/** An open hash table; times are in seconds since the epoch. */
class KeyTable {
  #table = new Uint32Array(FEWEST * WORDS)
  #size = 0
  #nodes: string[] = []
  #numbers = new Map<string, number>()

  add(digest: readonly number[], nodeName: string, until: number, now: number): void {
    this.#put(digest, nodeName, until)
    if (this.#size > this.#capacity * FULLEST) this.#makeRoom(now)
  }

  /** Also of certificates that have expired. */
  holders(digest: readonly number[]): CertifiedHolder[] {
    const holders: CertifiedHolder[] = []
    for (let at = this.#slotOf(digest); this.#table[at + NODE]; at = this.#after(at))
      if (this.#holds(at, digest)) holders.push(this.#entry(at))
    return holders
  }

  get #capacity(): number {
    return this.#table.length / WORDS
  }

  #put(digest: readonly number[], nodeName: string, until: number): void {
    const node = this.#numberOf(nodeName)
    let at = this.#slotOf(digest)
    while (this.#table[at + NODE] && !(this.#table[at + NODE] === node && this.#holds(at, digest)))
      at = this.#after(at)
    if (this.#table[at + NODE] === 0) this.#size++
    this.#table.set(digest, at)
    this.#table[at + NODE] = node
    this.#table[at + UNTIL] = Math.max(until, this.#table[at + UNTIL] ?? 0)
  }

  /** Drops what has expired, and nodes that hold nothing more. */
  #makeRoom(now: number): void {
    const before = { table: this.#table, nodes: this.#nodes }
    const live: number[] = []
    for (let at = 0; at < before.table.length; at += WORDS)
      if (before.table[at + NODE] && (before.table[at + UNTIL] ?? 0) > now) live.push(at)
    this.#table = new Uint32Array(Math.max(FEWEST, Math.ceil((1.5 * live.length) / FULLEST)) * WORDS)
    this.#size = 0
    this.#nodes = []
    this.#numbers = new Map()
    for (const at of live) {
      const nodeName = before.nodes[(before.table[at + NODE] ?? 0) - 1] ?? ''
      this.#put([...before.table.subarray(at, at + NODE)], nodeName, before.table[at + UNTIL] ?? 0)
    }
  }

  #numberOf(nodeName: string): number {
    const known = this.#numbers.get(nodeName)
    if (known !== undefined) return known
    const number = this.#nodes.push(nodeName)
    this.#numbers.set(nodeName, number)
    return number
  }

  #entry(at: number): CertifiedHolder {
    const nodeName = this.#nodes[(this.#table[at + NODE] ?? 0) - 1] ?? ''
    return { nodeName, until: this.#table[at + UNTIL] ?? 0 }
  }

  #holds(at: number, digest: readonly number[]): boolean {
    return digest.every((word, index) => this.#table[at + index] === word)
  }

  /** Digests are spread evenly, and so are their first words. */
  #slotOf([first = 0]: readonly number[]): number {
    return Math.floor((first / 2 ** 32) * this.#capacity) * WORDS
  }

  #after(at: number): number {
    const next = at + WORDS
    return next === this.#table.length ? 0 : next
  }
}

/** Without the digit that names the table. */
function digestOf(keyHash: string): number[] {
  return [1, 9, 17, 25].map(from => Number.parseInt(keyHash.slice(from, from + 8), 16))
}
