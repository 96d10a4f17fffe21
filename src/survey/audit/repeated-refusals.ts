import type { AuditedDecision } from './audit-entry.ts'

/** Denials and holds of one requester for one reason that are kept one by one within an hour (milliseconds). */
const [keptSingly, hour] = [100, 3_600_000]
/** Requesters and reasons remembered. */
const mostRemembered = 10_000

/**
 * A node that is refused without end must not push out of the log what was decided before. After a hundred refusals in an
 * hour only the thousandth, ten thousandth and so on is kept, and says how many there were. Approvals are all kept.
 */
export class RepeatedRefusals {
  readonly #counts = new Map<string, { since: number; count: number }>()

  /** What to keep of it; undefined: nothing. `now`: monotonic milliseconds. */
  keep(decision: AuditedDecision, now: number): AuditedDecision | undefined {
    if (decision.outcome === 'Approve' || decision.decidedBy !== undefined) return decision
    const count = this.#next(keyOf(decision), now)
    if (count <= keptSingly) return decision
    return Number.isInteger(Math.log10(count)) ? { ...decision, repeated: count } : undefined
  }

  /** What was to be kept could not be written: it does not count, or its like would go by unseen. */
  takeBack(decision: AuditedDecision): void {
    const counted = this.#counts.get(keyOf(decision))
    if (counted) counted.count--
  }

  #next(key: string, now: number): number {
    const known = this.#counts.get(key)
    const counted = known && now - known.since < hour ? known : { since: now, count: 0 }
    counted.count++
    this.#counts.delete(key)
    this.#counts.set(key, counted)
    const [oldest] = this.#counts.keys()
    if (this.#counts.size > mostRemembered && oldest !== undefined) this.#counts.delete(oldest)
    return counted.count
  }
}

const keyOf = ({ requester, signer, reasons }: AuditedDecision) =>
  JSON.stringify([requester, signer, reasons[0]])
