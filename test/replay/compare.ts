/** A recorded answer held against ours. Symbols that the recording has in place of chosen values are bound on first sight. */

export interface Difference {
  /** E.g. `items[0].spec.priority`. */
  path: string
  recorded: unknown
  ours: unknown
}

const anything: Readonly<Record<string, RegExp>> = {
  $time: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
  $age: /^(\d+[smhd]){1,2}$/,
  $certificate: /^LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t/,
}
const bound: readonly [symbol: RegExp, value: RegExp][] = [
  [/^\$uid\d+$/, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  [/^\$csr\d+$/, /^csr-[a-z0-9]{5}$/],
]
const version = /^\$rv\d+$/

export class Symbols {
  readonly #values = new Map<string, string>()

  /** `now`: when all was created that is. `certificate`: PEM, any. */
  constructor(now: string, certificate: string) {
    this.#values.set('$now', now)
    this.#values.set('$certificate', Buffer.from(certificate).toString('base64'))
  }

  /** The text with each symbol as our server knows it. A version that it never gave out is 0: any. */
  fill(text: string): string {
    return text.replaceAll(
      /\$(?:now|certificate|(?:uid|csr|rv)\d+)/g,
      symbol => this.#values.get(symbol) ?? (symbol.startsWith('$rv') ? '0' : symbol),
    )
  }

  fillAll(value: unknown): unknown {
    return value === undefined ? undefined : JSON.parse(this.fill(JSON.stringify(value)))
  }

  /** What the recording calls a name of ours. */
  symbolOf(ours: string): string {
    return [...this.#values].find(([, value]) => value === ours)?.[0] ?? ours
  }

  /** Whether `ours` may stand where the recording has `recorded`. */
  accepts(recorded: string, ours: unknown): boolean {
    if (typeof ours !== 'string') return false
    const free = Object.hasOwn(anything, recorded) ? anything[recorded] : undefined
    if (free) return free.test(ours)
    if (version.test(recorded)) {
      // Ours counts other writes, so only what it is sent back matters.
      this.#values.set(recorded, ours)
      return /^\d+$/.test(ours)
    }
    const form = bound.find(([symbol]) => symbol.test(recorded))?.[1]
    if (!form || this.#values.has(recorded)) return this.fill(recorded) === ours
    this.#values.set(recorded, ours)
    return form.test(ours)
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Everything in which `ours` is not what was recorded. */
export function differencesOf(symbols: Symbols, recorded: unknown, ours: unknown, path = ''): Difference[] {
  if (typeof recorded === 'string') return symbols.accepts(recorded, ours) ? [] : [{ path, recorded, ours }]
  if (Array.isArray(recorded) && Array.isArray(ours)) {
    const longer = recorded.length > ours.length ? recorded : ours
    return longer.flatMap((_item, index) =>
      differencesOf(symbols, recorded[index], ours[index], `${path}[${index}]`),
    )
  }
  if (isObject(recorded) && isObject(ours)) {
    const keys = [...new Set([...Object.keys(recorded), ...Object.keys(ours)])]
    return keys.flatMap(key =>
      differencesOf(symbols, recorded[key], ours[key], path === '' ? key : `${path}.${key}`),
    )
  }
  return recorded === ours ? [] : [{ path, recorded, ours }]
}
