/** What two servers answered, brought into one form: what a server chooses itself has the number of its first sight. */
import type { Played } from './play.ts'

/** Headers that mean something to a client. */
const headers = ['content-type', 'warning', 'location', 'www-authenticate', 'allow']

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/
/** As generate.ts asks for them: `a-7-` and what the server puts behind it. */
const generated = /(\b[abc]-\d+-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g
/** Of 10.96.0.0/12, of which services are given some. */
const serviceAddress = /^10\.(9[6-9]|10\d|11[01])\.\d{1,3}\.\d{1,3}$/
/** In a Table. */
const age = /^\d+(ms|[smhd])(\d+[smhd])?$/

/** A form of the answers in which those of two servers that behave alike are equal. */
export function comparable(played: readonly Played[]): unknown[] {
  const symbols = new Symbols()
  for (const { answer } of played) symbols.learn(answer?.body)
  return played.map(({ answer }) => {
    if (!answer) return 'not sent'
    const { status, body, events } = answer
    const told = headers.map(name => [name, answer.headers[name]])
    return symbols.applied({ status, headers: Object.fromEntries(told), body, ...(events && { events }) })
  })
}

class Symbols {
  readonly #values = new Map<string, string>()
  readonly #versions = new Map<string, string>()

  /** Takes uids, generated names and versions of all objects in the answer. */
  learn(value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    const { metadata } = value as { metadata?: Record<string, unknown> }
    const { uid, resourceVersion } = metadata ?? {}
    if (typeof uid === 'string') this.#note(this.#values, uid, 'uid')
    // A list's version counts writes of others too.
    if (typeof resourceVersion === 'string' && !isList(value))
      this.#note(this.#versions, resourceVersion, 'rv')
    for (const inner of Object.values(value)) this.learn(inner)
  }

  #note(into: Map<string, string>, value: string, kind: string): void {
    if (!into.has(value)) into.set(value, `$${kind}#${into.size + 1}`)
  }

  applied(value: unknown, key = ''): unknown {
    if (typeof value === 'string') return this.#text(value, key)
    if (Array.isArray(value)) return value.map(one => this.applied(one, key))
    if (typeof value !== 'object' || value === null) return value
    const fields = Object.entries(value).filter(([field]) => field !== 'managedFields')
    const inList = isList(value)
    return Object.fromEntries(
      fields.map(([field, one]) => [
        this.#text(field, ''),
        inList && field === 'metadata' ? listMetadata(one) : this.applied(one, field),
      ]),
    )
  }

  #text(text: string, key: string): string {
    if (key === 'resourceVersion') return this.#versions.get(text) ?? '$rv'
    if (key === 'cells' && age.test(text)) return '$age'
    if (serviceAddress.test(text)) return '$ip'
    if (key === 'token') return '$token'
    if (time.test(text)) return '$time'
    if (/^(X509SHA256|JTI)=/.test(text)) return '$credential'
    let told = text.replace(/current: \d+/, 'current: $rv').replaceAll(generated, '$1$generated')
    for (const [value, symbol] of this.#values) told = told.replaceAll(value, symbol)
    // In a sentence, where a version is told from other numbers by the words before it.
    return told.replace(
      /(ResourceVersion in (?:record|the precondition) \()(\d+)\)/g,
      (_all, before, version) => `${before}${this.#versions.get(version) ?? '$rv'})`,
    )
  }
}

const isList = (value: object) => 'items' in value || 'rows' in value

const listMetadata = (metadata: unknown) => {
  const { resourceVersion, continue: next, ...rest } = Object(metadata) as Record<string, unknown>
  return {
    ...rest,
    ...(resourceVersion !== undefined && { resourceVersion: '$rv' }),
    ...(next !== undefined && { continue: '$next' }),
  }
}
