/** Where policies come from, as the controller sees them: what is in force now, and what is evaluated beside it. */
import type { ApprovalPolicy } from './policy.ts'

export interface LoadedPolicy {
  name: string
  /** Changes with its content. */
  revision: string
  policy: ApprovalPolicy
}

export interface PolicySource {
  /** The last good version; undefined: no policy, so serving requests are left to a person. */
  inForce(): LoadedPolicy | undefined
  /** Why the policy that is there cannot be used, where no good version of it is known: then nothing is decided. */
  unusable(): string | undefined
  /** Sorted by name. */
  shadows(): readonly LoadedPolicy[]
  /** Resolves when it is known whether there is a policy. */
  readonly settled: Promise<void>
  /** A shadow was asked about a request, after what is in force; `difference` where the outcome is another. */
  compared(shadow: LoadedPolicy, difference?: Difference): void
  stop(): Promise<void>
}

export interface Difference {
  /** Name of the CertificateSigningRequest. */
  request: string
  node: string | undefined
  /** `OUTCOME CODE` of both. */
  enforced: string
  shadow: string
}

/** Makes the source; `onChange` is called when it says something else than before. */
export type FollowPolicies = (onChange: () => void) => PolicySource

/** A policy that never changes, or none. */
export function fixedPolicy(policy: ApprovalPolicy | undefined): FollowPolicies {
  const loaded = policy && { name: 'given', revision: '', policy }
  return () => ({
    inForce: () => loaded,
    unusable: () => undefined,
    shadows: () => [],
    settled: Promise.resolve(),
    compared() {},
    stop: async () => {},
  })
}
