/** How requests are judged: a CertificatePolicy with its preset filled in. */
import { RollcallError } from '../errors.ts'
import { policyProblems } from '../kube/rollcall/certificate-policy/problems.ts'
import type { CertificatePolicySpec } from '../kube/rollcall/certificate-policy/spec.ts'
import { pathText } from '../kube/schema-problems.ts'
import type { RequiredEvidence } from './evidence/level.ts'

// What a policy consists of; each field is told in the schema.
export type { InventoryLocation, Pool } from '../kube/rollcall/certificate-policy/spec.ts'

export interface ApprovalPolicy extends Omit<CertificatePolicySpec, 'preset' | 'shadowOf'> {
  evidence: RequiredEvidence
  allowedRanges: readonly string[]
}

export const defaultWaitSeconds = 300
export const defaultClusterDomain = 'cluster.local'
export const defaultBootstrapGroups: readonly string[] = ['system:bootstrappers']
export const defaultApprovalsPerHour = 120
export const defaultJoinWindowSeconds = 7200

/** Where machines are known, one that joined is not let in again by a credential that others hold too. */
export function rebootstrapOf(policy: ApprovalPolicy | undefined): 'allow' | 'deny' {
  return policy?.rebootstrap ?? (policy?.bootstrap === 'Inventory' ? 'deny' : 'allow')
}

/** Throws RollcallError POLICY_INVALID for the first thing wrong with it. */
export function checkPolicy(policy: ApprovalPolicy): void {
  const [problem] = policyProblems(policy)
  if (problem) throw new RollcallError('POLICY_INVALID', `${pathText(problem.path)}: ${problem.text}`)
}
