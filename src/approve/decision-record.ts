import type { CertificateSigningRequest } from '../kube/types.ts'
import type { AuditedDecision } from '../survey/audit/audit-entry.ts'
import { assess } from './evidence/assessment.ts'
import type { Facts } from './facts.ts'
import type { LoadedPolicy } from './policy-source.ts'
import { kindOf } from './rules/our-signer.ts'
import { subjectNode } from './subject-node.ts'
import type { Verdict } from './verdict.ts'

/** What the decision log keeps of a verdict: who asked for what, what proves each SAN, by which policy. */
export function decisionRecord(
  facts: Facts,
  { outcome, reasons }: Pick<Verdict, 'outcome' | 'reasons'>,
  policy: LoadedPolicy | undefined,
): AuditedDecision {
  const { csr, reading } = facts
  const { request } = reading
  const node = request && subjectNode(request)
  // A SAN of a client request is denied, whatever proves it.
  const sans = request && kindOf(csr) === 'serving' ? assess({ ...facts, request }).sans : []
  return {
    request: { name: csr.metadata.name, uid: csr.metadata.uid ?? '' },
    signer: csr.spec.signerName,
    requester: csr.spec.username ?? '',
    ...(node !== undefined && { node }),
    outcome,
    reasons: reasons.map(({ code }) => code),
    message: reasons[0]?.message ?? '',
    sans: sans.map(({ san, proofs }) => ({ name: san.canonical, proofs })),
    ...(policy && { policy: { name: policy.name, revision: policy.revision } }),
  }
}

/** Of a decision that somebody else made, which stands. */
export function foreignRecord(csr: CertificateSigningRequest, record: AuditedDecision): AuditedDecision {
  const condition = csr.status?.conditions?.find(({ type }) => type === 'Approved' || type === 'Denied')
  return { ...record, decidedBy: `${condition?.reason ?? 'no reason'}: ${condition?.message ?? ''}` }
}
