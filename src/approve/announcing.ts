/** What is told of verdicts: Events on the request and its Node, the log, metrics, the decision log. */
import { isApproved } from '../kube/csr-conditions.ts'
import type { CertificateSigningRequest, KubeNode } from '../kube/types.ts'
import type { ApprovalOptions } from './approval-options.ts'
import { decisionRecord, foreignRecord } from './decision-record.ts'
import type { Facts } from './facts.ts'
import { foreignDecision } from './foreign-decision.ts'
import { judge } from './judge.ts'
import type { LoadedPolicy } from './policy-source.ts'
import { kindOf } from './rules/our-signer.ts'
import type { Verdict } from './verdict.ts'

type Told = Pick<ApprovalOptions, 'log' | 'report' | 'reportNode' | 'onVerdict' | 'record'>

/** A verdict that took effect, or a new reason why a request is left pending. */
export function announce(
  { log, report, reportNode, onVerdict }: Told,
  csr: CertificateSigningRequest,
  verdict: Verdict,
  node: KubeNode | undefined,
): void {
  const [first, ...warnings] = verdict.reasons
  const { outcome } = verdict
  if (first) report(csr, outcome === 'Approve' || outcome === 'Wait' ? 'Normal' : 'Warning', first)
  for (const warning of warnings) report(csr, 'Warning', warning)
  // Its name would make each of a node's requests an Event of its own; so the same reason counts one Event up.
  if (node && first && (outcome === 'Deny' || outcome === 'Hold') && first.code !== 'Superseded')
    reportNode?.(node, first)
  const { signerName, username: requester } = csr.spec
  const fields = { csr: csr.metadata.name, signerName, requester, outcome, ...first }
  log.info('judged a certificate signing request', fields)
  onVerdict?.(csr, verdict)
}

/**
 * A13: what somebody else decided stands; whether it is what would have been decided here is worth knowing. `facts` as they
 * were before that.
 */
export function announceForeign(
  { log, report, onVerdict, record }: Told,
  csr: CertificateSigningRequest,
  facts: Facts,
  policy: LoadedPolicy | undefined,
): void {
  const judged = kindOf(csr) === 'serving' ? judge(facts) : undefined
  const found = foreignDecision(csr, judged)
  if (!found) return
  const { type, reason } = found
  report(csr, type, reason)
  log.info('another approver decided', { csr: csr.metadata.name, message: reason.message })
  const outcome = isApproved(csr) ? 'Approve' : 'Deny'
  const decision = decisionRecord(facts, { outcome, reasons: [reason] }, policy)
  // It stands, whether it can be kept or not.
  record?.(foreignRecord(csr, decision)).catch(error =>
    log.error('a decision of another approver could not be kept', { error: String(error) }),
  )
  onVerdict?.(csr, { outcome: 'Ignore', reasons: [reason], rules: [] })
}
