/** The policies there are, each with its last good version; which one is in force, and why the others are not. */

import type { CertificatePolicySpec, PolicyCondition } from '../kube/rollcall/certificate-policy/spec.ts'
import { policyInForce } from '../kube/rollcall/certificate-policy.ts'
import { policyOf } from './policy-presets.ts'
import type { LoadedPolicy } from './policy-source.ts'

export interface GivenPolicy {
  name: string
  spec: CertificatePolicySpec
  revision: string
  /** What is wrong with it; then its last good version goes on to count. */
  problems: readonly string[]
}

interface Kept {
  given: GivenPolicy
  good?: { loaded: LoadedPolicy; shadowOf: string | undefined }
}

/** Shadows evaluated at most: each costs as much as the policy in force. */
const mostShadows = 4

/** The two conditions without times. */
export type Standing = Pick<PolicyCondition, 'type' | 'status' | 'reason' | 'message'>

export class PolicySet {
  readonly #kept = new Map<string, Kept>()

  /** Takes a new version in. */
  put(given: GivenPolicy): void {
    const before = this.#kept.get(given.name)?.good
    const { name, revision, spec } = given
    const good =
      given.problems.length === 0
        ? { loaded: { name, revision, policy: policyOf(spec) }, shadowOf: spec.shadowOf }
        : before
    this.#kept.set(name, { given, ...(good && { good }) })
  }

  remove(name: string): void {
    this.#kept.delete(name)
  }

  names(): string[] {
    return [...this.#kept.keys()]
  }

  inForce(): LoadedPolicy | undefined {
    const good = this.#kept.get(policyInForce)?.good
    return good?.shadowOf === undefined ? good?.loaded : undefined
  }

  /** What is wrong with the policy that should be in force and was never good. */
  unusable(): string | undefined {
    const kept = this.#kept.get(policyInForce)
    const [first, ...more] = kept?.good ? [] : (kept?.given.problems ?? [])
    return first && (more.length > 0 ? `${first} (and ${more.length} more)` : first)
  }

  shadows(): readonly LoadedPolicy[] {
    if (!this.inForce()) return []
    const shadows = [...this.#kept.values()].flatMap(({ good }) =>
      good?.shadowOf === policyInForce ? [good.loaded] : [],
    )
    return shadows.sort((a, b) => (a.name < b.name ? -1 : 1)).slice(0, mostShadows)
  }

  /** Accepted, then InForce. */
  standing(name: string): Standing[] {
    const kept = this.#kept.get(name)
    if (!kept) return []
    const { problems } = kept.given
    const accepted: Standing =
      problems.length === 0
        ? { type: 'Accepted', status: 'True', reason: 'Accepted', message: 'the policy can be used' }
        : { type: 'Accepted', status: 'False', reason: 'Invalid', message: problems.join('\n') }
    return [accepted, this.#standingInForce(kept)]
  }

  #standingInForce({ given, good }: Kept): Standing {
    const not = (reason: string, message: string): Standing => ({
      type: 'InForce',
      status: 'False',
      reason,
      message,
    })
    if (!good) return not('Invalid', 'it cannot be used, and no earlier version is known')
    if (this.inForce() === good.loaded)
      return {
        type: 'InForce',
        status: 'True',
        reason: given.problems.length === 0 ? 'InForce' : 'LastGood',
        message:
          given.problems.length === 0
            ? 'requests are judged by it'
            : 'requests are judged by its last good version',
      }
    if (good.shadowOf === undefined)
      return not('OtherInForce', `requests are judged by the policy named ${policyInForce}`)
    if (this.shadows().includes(good.loaded)) return not('Shadow', `evaluated beside ${policyInForce}`)
    if (good.shadowOf !== policyInForce || !this.inForce())
      return not('NotEvaluated', `${good.shadowOf} is not in force, so there is nothing to compare with`)
    return not('TooManyShadows', `at most ${mostShadows} shadows are evaluated, the first by name`)
  }
}
