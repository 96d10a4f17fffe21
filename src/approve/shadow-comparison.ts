/** Asks the shadows about what was judged by the policy in force. */
import type { EvidenceProvider } from './evidence/provider.ts'
import type { Facts } from './facts.ts'
import { judge } from './judge.ts'
import type { ApprovalPolicy } from './policy.ts'
import type { LoadedPolicy, PolicySource } from './policy-source.ts'
import { subjectNode } from './subject-node.ts'
import type { Outcome, Verdict } from './verdict.ts'

/** Requests remembered so that each pair of verdicts counts once. */
const mostRemembered = 10_000

export interface Comparison {
  enforced: Outcome
  shadow: Outcome
}

export class ShadowComparison {
  readonly #policies: PolicySource
  readonly #onCompared: (comparison: Comparison) => void
  readonly #seen = new Map<string, string>()

  constructor(policies: PolicySource, onCompared: (comparison: Comparison) => void) {
    this.#policies = policies
    this.#onCompared = onCompared
  }

  /** `facts` as they were judged; `evidence`: the sources that a policy names. */
  compare(
    facts: Facts,
    verdict: Verdict,
    evidence: (policy: ApprovalPolicy) => readonly EvidenceProvider[] | undefined,
  ): void {
    for (const shadow of this.#policies.shadows()) {
      const { policy } = shadow
      const other = judge({ ...facts, policy, evidence: evidence(policy) })
      if (this.#isNews(facts, shadow, verdict, other)) this.#tell(facts, shadow, verdict, other)
    }
  }

  #tell({ csr, reading }: Facts, shadow: LoadedPolicy, verdict: Verdict, other: Verdict): void {
    this.#onCompared({ enforced: verdict.outcome, shadow: other.outcome })
    const node = reading.request && subjectNode(reading.request)
    const difference = { request: csr.metadata.name, node, enforced: told(verdict), shadow: told(other) }
    this.#policies.compared(shadow, verdict.outcome === other.outcome ? undefined : difference)
  }

  #isNews({ csr }: Facts, { name, revision }: LoadedPolicy, verdict: Verdict, other: Verdict): boolean {
    const key = `${name} ${csr.metadata.uid ?? csr.metadata.name}`
    const pair = `${revision} ${told(verdict)} ${told(other)}`
    if (this.#seen.get(key) === pair) return false
    this.#seen.delete(key)
    this.#seen.set(key, pair)
    const [oldest] = this.#seen.keys()
    if (this.#seen.size > mostRemembered && oldest !== undefined) this.#seen.delete(oldest)
    return true
  }
}

const told = ({ outcome, reasons }: Verdict) => `${outcome} ${reasons[0]?.code}`
