/** What a policy makes of requests, beside what is made of them now. */
import type { Verdict } from '../../approve/verdict.ts'
import { isApproved, isDenied } from '../../kube/csr-conditions.ts'
import type { CertificateSigningRequest } from '../../kube/types.ts'

export interface Judgement {
  outcome: string
  code: string
  message: string
}

export interface Compared {
  request: string
  node: string
  /** How it was answered. */
  decided: 'Approved' | 'Denied' | ''
  /** By the policy in force; absent: there is none to compare with. */
  before?: Judgement
  after: Judgement
  /** With another outcome than before; where there is none before, another than approval. */
  differs: boolean
}

export const judgementOf = ({ outcome, reasons }: Verdict): Judgement => ({
  outcome,
  code: reasons[0]?.code ?? '',
  message: reasons[0]?.message ?? '',
})

export function compared(
  csr: CertificateSigningRequest,
  before: Verdict | undefined,
  after: Verdict,
): Compared {
  return {
    request: csr.metadata.name,
    node: (csr.spec.username ?? '').replace(/^system:node:/, ''),
    decided: isApproved(csr) ? 'Approved' : isDenied(csr) ? 'Denied' : '',
    ...(before && { before: judgementOf(before) }),
    after: judgementOf(after),
    differs: after.outcome !== (before?.outcome ?? 'Approve'),
  }
}

/** 3: something would be otherwise; 4: nothing found, but not everything could be judged; else 0. */
export function exitCodeOf(results: readonly Compared[], unchecked: readonly string[]): 0 | 3 | 4 {
  const failed = results.some(({ after }) => after.code === 'EvidenceUnavailable')
  if (results.some(({ differs, after }) => differs && after.code !== 'EvidenceUnavailable')) return 3
  return failed || unchecked.length > 0 ? 4 : 0
}
