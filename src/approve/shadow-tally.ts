/** What shadows would have decided otherwise, counted by policy. */
import type { ShadowDifference, ShadowReport } from '../kube/rollcall/certificate-policy/spec.ts'
import type { Difference } from './policy-source.ts'

/** Differences kept for the report. */
const mostLatest = 10

interface Tally {
  revision: string
  compared: number
  different: number
  latest: ShadowDifference[]
}

export class ShadowTally {
  readonly #tallies = new Map<string, Tally>()

  /** A new revision begins anew: what an earlier one would have done says nothing about it. */
  count(name: string, revision: string, difference: Difference | undefined): void {
    const known = this.#tallies.get(name)
    const tally = known?.revision === revision ? known : { revision, compared: 0, different: 0, latest: [] }
    this.#tallies.set(name, tally)
    tally.compared++
    if (!difference) return
    const { request, node, enforced, shadow } = difference
    tally.different++
    tally.latest = [{ request, ...(node && { node }), enforced, shadow }, ...tally.latest].slice(
      0,
      mostLatest,
    )
  }

  forget(name: string): void {
    this.#tallies.delete(name)
  }

  report(name: string): ShadowReport | undefined {
    const tally = this.#tallies.get(name)
    return tally && { compared: tally.compared, different: tally.different, latest: tally.latest }
  }
}
