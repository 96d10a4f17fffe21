/** What the approval controller remembers of requests between two looks; all of it can be lost without harm. */
import type { CertificateSigningRequest } from '../kube/types.ts'
import type { Verdict } from './verdict.ts'

interface Memory {
  /** What was last told about it, so that it is told once. */
  told?: string
  /** How often its access was refused. */
  retries: number
  /** The Node it is judged by. */
  nodeName?: string
  /** The version that a decision was written from; the cache may lag behind. */
  writtenFrom?: string | undefined
}

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
    this.#of(name).nodeName = nodeName
    const followers = this.#byNode.get(nodeName)
    if (followers) followers.add(name)
    else this.#byNode.set(nodeName, new Set([name]))
  }

  /** The requests that follow this Node. */
  followers(nodeName: string): readonly string[] {
    return [...(this.#byNode.get(nodeName) ?? [])]
  }

  markWritten(csr: CertificateSigningRequest): void {
    this.forget(csr.metadata.name)
    this.#of(csr.metadata.name).writtenFrom = csr.metadata.resourceVersion
  }

  /** Whether a decision was already written from this very version. */
  isWritten(csr: CertificateSigningRequest): boolean {
    const writtenFrom = this.#memories.get(csr.metadata.name)?.writtenFrom
    return writtenFrom !== undefined && writtenFrom === csr.metadata.resourceVersion
  }

  forget(name: string): void {
    const nodeName = this.#memories.get(name)?.nodeName
    this.#memories.delete(name)
    if (nodeName === undefined) return
    const followers = this.#byNode.get(nodeName)
    followers?.delete(name)
    if (followers?.size === 0) this.#byNode.delete(nodeName)
  }

  #of(name: string): Memory {
    const memory = this.#memories.get(name) ?? { retries: 0 }
    this.#memories.set(name, memory)
    return memory
  }
}
