import type { CertificateSigningRequest } from '../kube/types.ts'
import { type ApprovalPolicy, rebootstrapOf } from './policy.ts'
import { kindOf } from './rules/our-signer.ts'

/** What was read since the start: nothing, the policy and the ledger, or all requests that were there too. */
export type Known = 'nothing' | 'ledger' | 'requests'

/**
 * Whether a request is judged by what the whole cluster holds: an address is free only when nobody has it. What a client
 * certificate names is given by who asks, unless the policy wants more of it.
 */
export function judgedByAll(csr: CertificateSigningRequest, policy: ApprovalPolicy | undefined): boolean {
  const { bootstrap, ownKey, pools } = policy ?? {}
  return (
    kindOf(csr) === 'serving' ||
    rebootstrapOf(policy) === 'deny' ||
    bootstrap === 'Inventory' ||
    ownKey === 'deny' ||
    pools !== undefined
  )
}

/** Requests that came before what they are judged by was read. */
export class EarlyRequests {
  readonly #judgedByAll: (name: string) => boolean
  readonly #waiting = new Set<string>()
  #known: Known = 'nothing'

  constructor(judgedByAll: (name: string) => boolean) {
    this.#judgedByAll = judgedByAll
  }

  /** Whether the request has to wait; then it is remembered. */
  holds(name: string): boolean {
    const waits = this.#known === 'nothing' || (this.#known === 'ledger' && this.#judgedByAll(name))
    if (waits) this.#waiting.add(name)
    return waits
  }

  /** More is known: gives those that waited, which are to be tried again. */
  learn(known: Known): string[] {
    if (this.#known !== 'requests') this.#known = known
    const names = [...this.#waiting]
    this.#waiting.clear()
    return names
  }
}
