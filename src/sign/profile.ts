import type { CertificateRequest } from '../x509/request.ts'

/** What one signerName may be asked for. */
export interface Profile {
  signerName: string
  /** The first rule that is broken, in Kubernetes' words (the Failed condition's message), or undefined. */
  refusal(request: CertificateRequest, usages: readonly string[]): string | undefined
}

/** The first check that does not hold names what is wrong. */
export function firstRefusal(
  checks: readonly (readonly [holds: boolean, message: string])[],
): string | undefined {
  return checks.find(([holds]) => !holds)?.[1]
}

/** Whether both hold the same usages, whatever the order. */
export function sameUsages(usages: readonly string[], expected: readonly string[]): boolean {
  return new Set(usages).size === expected.length && expected.every(usage => usages.includes(usage))
}
