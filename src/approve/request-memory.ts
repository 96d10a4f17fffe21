/** What the approval controller remembers of requests between two looks; all of it can be lost without harm. */
import type { CertificateSigningRequest } from '../kube/types.ts'
import type { Outcome, Verdict } from './verdict.ts'

interface Memory {
  /** What was last told about it, so that it is told once. */
  told?: string
  /** How often its access was refused. */
  retries: number
  /** The Nodes it is judged by. */
  nodeNames: Set<string>
  /** The version that a decision was written from; the cache may lag behind. */
  writtenFrom?: string | undefined
  /** How often it may be judged again at once, as of then (monotonic milliseconds). */
  pace?: { spare: number; at: number }
  /** What is being written, or was: our own decision may be seen before its write is answered. */
  deciding?: Outcome
}

/** Changes after which a request is judged again at once, and milliseconds after which there is room for one more. */
const [burst, interval] = [10, 5_000]

export class RequestMemory {
  readonly #memories = new Map<string, Memory>()
  readonly #byNode = new Map<string, Set<string>>()

  /** Whether this verdict was not told yet. */
  isNews(csr: CertificateSigningRequest, verdict: Verdict): boolean {
    const memory = this.#of(csr.metadata.name)
    const told = `${verdict.outcome} ${verdict.reasons[0]?.code} ${verdict.reasons[0]?.message}`
    if (memory.told === told) return false
    memory.told = told
    return true
  }

  /** How often this was called for the request before. */
  countRetry(name: string): number {
    return this.#of(name).retries++
  }

  /** The request is to be judged again when this Node changes. */
  follow(name: string, nodeName: string): void {
    this.#of(name).nodeNames.add(nodeName)
    const followers = this.#byNode.get(nodeName)
    if (followers) followers.add(name)
    else this.#byNode.set(nodeName, new Set([name]))
  }

  /** The requests that follow this Node. */
  followers(nodeName: string): readonly string[] {
    return [...(this.#byNode.get(nodeName) ?? [])]
  }

  /**
   * Milliseconds until the request may be judged again because something changed: a node that changes its own Node all
   * the time takes no more of the approver than others do. `now` is monotonic.
   */
  pace(name: string, now: number): number {
    const memory = this.#of(name)
    const { spare, at } = memory.pace ?? { spare: burst, at: now }
    const left = Math.min(burst, spare + (now - at) / interval)
    if (left < 1) {
      memory.pace = { spare: left, at: now }
      return (1 - left) * interval
    }
    memory.pace = { spare: left - 1, at: now }
    return 0
  }

  markWritten(csr: CertificateSigningRequest): void {
    const deciding = this.#memories.get(csr.metadata.name)?.deciding
    this.forget(csr.metadata.name)
    const memory = this.#of(csr.metadata.name)
    memory.writtenFrom = csr.metadata.resourceVersion
    if (deciding) memory.deciding = deciding
  }

  /** To be called before a decision is written. */
  markDeciding(csr: CertificateSigningRequest, outcome: Outcome): void {
    this.#of(csr.metadata.name).deciding = outcome
  }

  /** Whether such a decision was made here. */
  isOurs(csr: CertificateSigningRequest, outcome: Outcome): boolean {
    return this.#memories.get(csr.metadata.name)?.deciding === outcome
  }

  /** Whether a decision was already written from this very version. */
  isWritten(csr: CertificateSigningRequest): boolean {
    const writtenFrom = this.#memories.get(csr.metadata.name)?.writtenFrom
    return writtenFrom !== undefined && writtenFrom === csr.metadata.resourceVersion
  }

  forget(name: string): void {
    const nodeNames = this.#memories.get(name)?.nodeNames ?? []
    this.#memories.delete(name)
    for (const nodeName of nodeNames) {
      const followers = this.#byNode.get(nodeName)
      followers?.delete(name)
      if (followers?.size === 0) this.#byNode.delete(nodeName)
    }
  }

  /** Requests whose access was refused, or that could not be judged otherwise. */
  refused(): readonly string[] {
    return [...this.#memories].filter(([, { retries }]) => retries > 0).map(([name]) => name)
  }

  /** All requests that follow a Node. */
  following(): readonly string[] {
    return [...this.#memories].filter(([, { nodeNames }]) => nodeNames.size > 0).map(([name]) => name)
  }

  #of(name: string): Memory {
    const memory = this.#memories.get(name) ?? { retries: 0, nodeNames: new Set() }
    this.#memories.set(name, memory)
    return memory
  }
}
