/**
 * Other requests of the same node and signer. Only what a node asks as itself counts together: with a shared bootstrap
 * token one node could otherwise put another one's request aside.
 */
import { csrCondition, isApproved, isDenied } from '../kube/csr-conditions.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import type { RequestHistory } from './facts.ts'
import { requesterOf } from './requester.ts'
import { isUndecided } from './rules/undecided.ts'
import type { ReasonCode } from './verdict.ts'

const hour = 3_600_000
/** Milliseconds by which clocks may differ. What is dated later was dated by a clock that was wrong, and counts for nothing. */
const skew = 300_000
/** Decisions remembered of one node and signer. */
const mostDecisions = 1000
/** Requests taken in between two sweeps for nodes that have not asked for an hour. */
const sweepEvery = 1000

interface Decision {
  /** Milliseconds since the epoch. */
  at: number
  kind: 'approved' | 'denied'
}

interface Asked {
  newest: { name: string; created: number }
  /** Undecided ones, by name. */
  undecided: Map<string, number>
  decisions: Decision[]
}

export class RequestHistoryIndex {
  /** By requester and signer. */
  readonly #asked = new Map<string, Asked>()
  #sinceSweep = 0

  /** Takes in a request, or its new state; `before` is the state that was taken in before, if any. */
  see(csr: CertificateSigningRequest, before: CertificateSigningRequest | undefined, now: number): void {
    const key = keyOf(csr)
    if (key === undefined) return
    const { name } = csr.metadata
    const created = createdAt(csr, now)
    const asked: Asked = this.#asked.get(key) ?? {
      newest: { name, created },
      undecided: new Map(),
      decisions: [],
    }
    this.#asked.set(key, asked)
    if (created > asked.newest.created || isFuture(asked.newest.created, now))
      asked.newest = { name, created }
    if (isUndecided(csr)) asked.undecided.set(name, created)
    else asked.undecided.delete(name)
    const decision = decisionOf(csr, created)
    if (decision && now - decision.at < hour && !(before && decisionOf(before, created)))
      asked.decisions.push(decision)
    if (asked.decisions.length > mostDecisions) asked.decisions.shift()
    if (++this.#sinceSweep >= sweepEvery) this.#sweep(now)
  }

  /** The request is gone; what was decided about it goes on to count. */
  forget(csr: CertificateSigningRequest): void {
    this.#asked.get(keyOf(csr) ?? '')?.undecided.delete(csr.metadata.name)
  }

  /** `now` in milliseconds since the epoch. */
  of(csr: CertificateSigningRequest, now: number): RequestHistory | undefined {
    const asked = this.#asked.get(keyOf(csr) ?? '')
    if (!asked) return undefined
    const { newest, decisions } = asked
    const recent = decisions.filter(({ at }) => now - at < hour && !isFuture(at, now))
    const count = (kind: Decision['kind']) => recent.filter(decision => decision.kind === kind).length
    const isNewer = newest.created > createdAt(csr, now) && !isFuture(newest.created, now)
    return {
      ...(isNewer && { newer: newest.name }),
      approvals: count('approved'),
      denials: count('denied'),
    }
  }

  /** Undecided ones that this one supersedes. */
  older(csr: CertificateSigningRequest, now: number): string[] {
    const undecided = this.#asked.get(keyOf(csr) ?? '')?.undecided ?? []
    const created = createdAt(csr, now)
    return [...undecided].filter(([, other]) => other < created).map(([name]) => name)
  }

  #sweep(now: number): void {
    this.#sinceSweep = 0
    for (const [key, { newest, undecided, decisions }] of this.#asked) {
      const last = Math.max(newest.created, ...decisions.slice(-1).map(({ at }) => at))
      if (undecided.size === 0 && now - last > hour) this.#asked.delete(key)
    }
  }
}

function keyOf(csr: CertificateSigningRequest): string | undefined {
  const requester = requesterOf(csr, undefined)
  return requester.kind === 'node' ? `${csr.spec.signerName} ${requester.nodeName}` : undefined
}

function isFuture(time: number, now: number): boolean {
  return time > now + skew
}

function createdAt(csr: CertificateSigningRequest, now: number): number {
  const created = Date.parse(csr.metadata.creationTimestamp ?? '')
  return Number.isNaN(created) ? now : created
}

function decisionOf(csr: CertificateSigningRequest, created: number): Decision | undefined {
  const condition = csrCondition(csr, isDenied(csr) ? 'Denied' : 'Approved')
  if (!condition || condition.reason === ('Superseded' satisfies ReasonCode)) return undefined
  const at = Date.parse(condition.lastUpdateTime ?? '')
  return { at: Number.isNaN(at) ? created : at, kind: isApproved(csr) ? 'approved' : 'denied' }
}
