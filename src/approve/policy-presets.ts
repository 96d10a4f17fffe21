/** Where the fields of a policy start from. */
import type { CertificatePolicySpec } from '../kube/rollcall/certificate-policy/spec.ts'
import type { ApprovalPolicy } from './policy.ts'

const presets: Readonly<Record<NonNullable<CertificatePolicySpec['preset']>, CertificatePolicySpec>> = {
  strict: {
    evidence: 'ProtectedNodeStatus',
    keys: ['P-256', 'P-384', 'Ed25519'],
    rebootstrap: 'deny',
  },
  inventory: {
    evidence: 'Inventory',
    inventory: { configMap: 'kube-system/rollcall-inventory' },
  },
  lab: { evidence: 'NodeStatus', releasedAddresses: 'free' },
}

/** A spec without problems, with its preset filled in: a field that is given replaces the preset's whole field. */
export function policyOf({ preset, shadowOf: _, ...given }: CertificatePolicySpec): ApprovalPolicy {
  const merged = { ...(preset && presets[preset]), ...given }
  return { ...merged, evidence: merged.evidence ?? 'Inventory', allowedRanges: merged.allowedRanges ?? [] }
}
