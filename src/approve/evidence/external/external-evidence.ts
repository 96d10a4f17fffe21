/** What one source has said about nodes. It is asked before a judgement that needs it, and answers from memory then. */
import { hasCode, RollcallError } from '../../../errors.ts'
import { type Clock, withTimeout } from '../../../ports.ts'
import { canonicalDns } from '../../canonical-name.ts'
import type { MachineRecord } from '../../inventory/machine-record.ts'
import { type InventoryEntry, parseInventory } from '../../inventory/parse-inventory.ts'
import { contains } from '../../ip-range.ts'
import type { RequestedSan } from '../../requested-sans.ts'
import type { Evidence, EvidenceProvider } from '../provider.ts'
import type { EvidenceSource } from './source.ts'
import { Turns } from './turns.ts'

interface Answer {
  /** Monotonic milliseconds. */
  at: number
  /** Absent: the source does not know the node. */
  entry?: InventoryEntry | undefined
  /** It could not be asked; what it said before does not count any more. */
  error?: string
}

/** Milliseconds for which an answer counts: a node that asks again and again costs one question in this time. */
export const freshFor = 30_000
/** Nodes whose answers are kept. */
const mostAnswers = 20_000
/** Nodes that are asked about because they had the same name or address. */
const mostOthers = 16
/** Questions that one source is asked at a time. */
const mostQuestions = 4

export class ExternalEvidence implements EvidenceProvider {
  readonly level = 'Inventory'
  readonly name: string
  readonly #source: EvidenceSource
  readonly #clock: Clock
  readonly #answers = new Map<string, Answer>()
  readonly #holders = new Map<string, Set<string>>()
  /** By requester and node: under way, or waiting for their turn. */
  readonly #asking = new Map<string, Promise<void>>()
  readonly #turns = new Turns(mostQuestions)
  /** Ends a question that is under way. */
  readonly #endings = new Set<(why: Error) => void>()
  #stopped = false

  constructor(source: EvidenceSource, clock: Clock) {
    this.name = `evidence source ${source.name}`
    this.#source = source
    this.#clock = clock
  }

  evidence(nodeName: string, sans: readonly RequestedSan[]): Evidence {
    const answer = this.#answers.get(nodeName)
    if (!answer || this.#clock.monotonic() - answer.at >= freshFor) return { error: 'was not asked yet' }
    if (answer.error !== undefined) return { error: answer.error }
    const { names, addresses } = answer.entry ?? {}
    const proven = sans.filter(({ kind, canonical }) => (kind === 'IP' ? addresses : names)?.has(canonical))
    return { proven: new Map(proven.map(({ canonical }) => [canonical, this.name])) }
  }

  holders(canonical: string): readonly string[] {
    return [...(this.#holders.get(canonicalDns(canonical)) ?? [])]
  }

  attributes(nodeName: string): Readonly<Record<string, string>> {
    return this.#fresh(nodeName)?.attributes ?? {}
  }

  machine(nodeName: string): MachineRecord | undefined {
    return this.#fresh(nodeName)?.machine
  }

  mayCarry(nodeName: string, address: Uint8Array): boolean {
    return this.#fresh(nodeName)?.floating.some(range => contains(range, address)) ?? false
  }

  #fresh(nodeName: string): InventoryEntry | undefined {
    const answer = this.#answers.get(nodeName)
    return answer && this.#clock.monotonic() - answer.at < freshFor ? answer.entry : undefined
  }

  /**
   * Resolves when there is an answer about the node that counts, be it an error, and about those that held its names and
   * addresses before: they may have lost them since. Never rejects.
   */
  async refresh(nodeName: string, requester: string): Promise<void> {
    await this.#refreshOne(nodeName, requester)
    const others = namesOf(this.#answers.get(nodeName)).flatMap(canonical => [
      ...(this.#holders.get(canonical) ?? []),
    ])
    const names = [...new Set(others)].slice(0, mostOthers)
    await Promise.all(names.map(other => this.#refreshOne(other, requester)))
  }

  #refreshOne(nodeName: string, requester: string): Promise<void> {
    if (this.#isFresh(nodeName)) return Promise.resolve()
    // What somebody else has asked may have to wait for all that he asked before.
    const key = JSON.stringify([requester, nodeName])
    const under =
      this.#asking.get(key) ?? this.#ask(nodeName, requester).finally(() => this.#asking.delete(key))
    this.#asking.set(key, under)
    return under
  }

  #isFresh(nodeName: string): boolean {
    const answer = this.#answers.get(nodeName)
    return answer !== undefined && this.#clock.monotonic() - answer.at < freshFor
  }

  async #ask(nodeName: string, requester: string): Promise<void> {
    await this.#turns.take(requester)
    const { timeout } = this.#source
    const abort = new AbortController()
    const ended = Promise.withResolvers<never>()
    // Whoever waits for the race is told.
    ended.promise.catch(() => {})
    this.#endings.add(ended.reject)
    try {
      // Asked for somebody else meanwhile.
      if (this.#stopped || this.#isFresh(nodeName)) return
      const late = () => new Error(`it did not answer within ${timeout / 1000} s`)
      const asked = Promise.race([this.#source.ask(nodeName, abort.signal), ended.promise])
      const bytes = await withTimeout(this.#clock, timeout, asked, late)
      this.#keep(nodeName, { at: this.#clock.monotonic(), entry: bytes && readAnswer(nodeName, bytes) })
    } catch (error) {
      const why = hasCode(error, 'INVENTORY_INVALID') ? 'its answer is malformed: ' : 'cannot be asked: '
      const text = error instanceof Error ? error.message : String(error)
      this.#keep(nodeName, { at: this.#clock.monotonic(), error: `${why}${text.slice(0, 256)}` })
    } finally {
      abort.abort()
      this.#endings.delete(ended.reject)
      this.#turns.giveBack()
    }
  }

  /** Nothing is asked any more, and nobody waits for what was. */
  stop(): void {
    this.#stopped = true
    for (const end of this.#endings) end(new Error('nothing is asked any more'))
  }

  #keep(nodeName: string, answer: Answer): void {
    this.#forget(nodeName)
    this.#answers.set(nodeName, answer)
    for (const canonical of namesOf(answer))
      this.#holders.set(canonical, (this.#holders.get(canonical) ?? new Set()).add(nodeName))
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= mostAnswers) break
      this.#forget(oldest)
    }
  }

  #forget(nodeName: string): void {
    for (const canonical of namesOf(this.#answers.get(nodeName))) {
      const nodes = this.#holders.get(canonical)
      nodes?.delete(nodeName)
      if (nodes?.size === 0) this.#holders.delete(canonical)
    }
    this.#answers.delete(nodeName)
  }
}

const namesOf = (answer: Answer | undefined) => [
  ...(answer?.entry?.names ?? []),
  ...(answer?.entry?.addresses ?? []),
]

/** `{"names": […], "addresses": […], "attributes": {…}}`, as an entry of an inventory. */
function readAnswer(nodeName: string, bytes: Uint8Array): InventoryEntry | undefined {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new RollcallError('INVENTORY_INVALID', 'it is no JSON')
  }
  const entries = parseInventory({ answer: JSON.stringify({ nodes: { [nodeName]: value } }) })
  return entries.get(nodeName)?.[0]
}
