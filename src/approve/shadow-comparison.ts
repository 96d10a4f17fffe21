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

/** What a shadow is judged by beside the facts of the policy in force. */
export interface ShadowSources {
  /** The sources that a policy names. */
  evidence(policy: ApprovalPolicy): readonly EvidenceProvider[] | undefined
  /** Asks those outside the cluster about a node. Never rejects. */
  ask(policy: ApprovalPolicy, nodeName: string, requester: string): Promise<void>
}

/** Nodes about which sources are asked for shadows at a time; requests beyond them are not compared. */
const mostAsked = 64

export class ShadowComparison {
  readonly #policies: PolicySource
  readonly #sources: ShadowSources
  readonly #onCompared: (comparison: Comparison) => void
  readonly #seen = new Map<string, string>()
  /** By shadow and node: the newest judgement that waits for an answer, so that no node takes more than one place. */
  readonly #waiting = new Map<string, { facts: Facts; verdict: Verdict }>()
  readonly #asking = new Set<Promise<void>>()

  constructor(policies: PolicySource, sources: ShadowSources, onCompared: (comparison: Comparison) => void) {
    this.#policies = policies
    this.#sources = sources
    this.#onCompared = onCompared
  }

  /** `facts` as they were judged. The verdict stands already: nobody waits for what a shadow has to ask. */
  compare(facts: Facts, verdict: Verdict): void {
    for (const shadow of this.#policies.shadows()) {
      const other = this.#judge(shadow, facts)
      const node = facts.reading.request && subjectNode(facts.reading.request)
      const asks = shadow.policy.evidenceFrom && other.reasons[0]?.code === 'EvidenceUnavailable'
      if (asks && node !== undefined) this.#askFirst(shadow, node, facts, verdict)
      else this.#take(facts, shadow, verdict, other)
    }
  }

  /** Resolves when no source is asked any more. */
  async stop(): Promise<void> {
    this.#waiting.clear()
    await Promise.all(this.#asking)
  }

  #judge({ policy }: LoadedPolicy, facts: Facts): Verdict {
    return judge({ ...facts, policy, evidence: this.#sources.evidence(policy) })
  }

  #askFirst(shadow: LoadedPolicy, node: string, facts: Facts, verdict: Verdict): void {
    const key = `${shadow.name} ${shadow.revision} ${node}`
    const isAsked = this.#waiting.has(key)
    if (!isAsked && this.#waiting.size >= mostAsked) return
    this.#waiting.set(key, { facts, verdict })
    if (isAsked) return
    const asking = this.#sources.ask(shadow.policy, node, facts.csr.spec.username ?? '').then(() => {
      const waiting = this.#waiting.get(key)
      this.#waiting.delete(key)
      this.#asking.delete(asking)
      // Another version of it may be there by now.
      if (waiting && this.#policies.shadows().includes(shadow))
        this.#take(waiting.facts, shadow, waiting.verdict, this.#judge(shadow, waiting.facts))
    })
    this.#asking.add(asking)
  }

  #take(facts: Facts, shadow: LoadedPolicy, verdict: Verdict, other: Verdict): void {
    if (this.#isNews(facts, shadow, verdict, other)) this.#tell(facts, shadow, verdict, other)
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
