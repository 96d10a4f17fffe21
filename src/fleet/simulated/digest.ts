import { createHash } from 'node:crypto'

export type Fact = string | number | boolean | null | undefined | readonly Fact[] | { [name: string]: Fact }

/** How many lines are gathered before they are hashed. */
const BLOCK = 64 * 1024

/**
 * Everything that happened, as one SHA-256 over one canonical line per event, and the last lines in clear. Two runs
 * with the same digest had the same events in the same order.
 */
export class EventDigest {
  readonly #hash = createHash('sha256')
  readonly #ring: string[] = []
  readonly #kept: number
  readonly #onLine: ((line: string) => void) | undefined
  #block = ''
  count = 0

  /** `kept`: how many of the last lines `tail` gives; `onLine` sees each line as it comes. */
  constructor(kept = 200, onLine?: (line: string) => void) {
    this.#kept = kept
    this.#onLine = onLine
  }

  /** `time`: milliseconds since the epoch by the world's true clock. */
  record(time: number, machine: string, kind: string, facts: { [name: string]: Fact } = {}): void {
    const line = `${time.toFixed(3)} ${machine} ${kind} ${canonical(facts)}\n`
    this.#ring[this.count % this.#kept] = line
    this.count += 1
    this.#block += line
    this.#onLine?.(line)
    if (this.#block.length > BLOCK) this.#flush()
  }

  /** The last lines, oldest first. */
  tail(): string {
    const start = this.count % this.#kept
    return [...this.#ring.slice(start), ...this.#ring.slice(0, start)].join('')
  }

  /** 64 hex digits over all events so far; more may be recorded afterwards. */
  value(): string {
    this.#flush()
    return this.#hash.copy().digest('hex')
  }

  #flush(): void {
    this.#hash.update(this.#block)
    this.#block = ''
  }
}

/** JSON with the members in order of their names, and none that are undefined. */
export function canonical(fact: Fact): string {
  if (fact === null || typeof fact !== 'object') return JSON.stringify(fact) ?? 'null'
  if (isList(fact)) return `[${fact.map(canonical).join(',')}]`
  const members = Object.keys(fact)
    .filter(name => fact[name] !== undefined)
    .sort()
    .map(name => `${JSON.stringify(name)}:${canonical(fact[name])}`)
  return `{${members.join(',')}}`
}

function isList(fact: object): fact is readonly Fact[] {
  return Array.isArray(fact)
}
