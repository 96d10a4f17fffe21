/** What the approval controller works with. */
import type { KubeClient } from '../kube/client.ts'
import type { ChangeType } from '../kube/object-cache.ts'
import type { CertificateSigningRequest, KubeNode } from '../kube/types.ts'
import type { Clock, Disk, Log, Random } from '../ports.ts'
import type { Leaf } from '../sign/leaf.ts'
import type { AuditedDecision } from '../survey/audit/audit-entry.ts'
import type { AskAccess } from './access-review.ts'
import type { EvidenceSource } from './evidence/external/source.ts'
import type { FollowPolicies } from './policy-source.ts'
import type { Comparison } from './shadow-comparison.ts'
import type { Reason, Verdict } from './verdict.ts'

export interface ApprovalOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  /** How many requests are judged at a time; absent: 5. */
  workers?: number | undefined
  /** What may be asked for by whom, from the API in this process; absent: by SubjectAccessReviews. */
  askAccess?: AskAccess | undefined
  /** Where policies come from. */
  followPolicies: FollowPolicies
  /** Seconds after which the server is asked to end a watch; absent: 300–600 at random. */
  watchTimeoutSeconds?: number | undefined
  /** Resolves when the cache holds the requests that were there before. */
  csrsSynced?: Promise<void>
  /** Certificates that were issued earlier and may live still, from a ledger; each iteration reads it anew. */
  issued?: AsyncIterable<Leaf> | undefined
  /** Sources of evidence outside the cluster that policies may name. */
  evidenceSources?: readonly EvidenceSource[] | undefined
  /** Where an inventory file is read from. */
  disk?: Pick<Disk, 'read'> | undefined
  /** The request as the cache has it, by name. */
  cached(name: string): CertificateSigningRequest | undefined
  /** Whether this process signs for that signer too, and keeps to the policy there; absent: for all. */
  signsFor?(signerName: string): boolean
  /** Makes an Event on the request. */
  report(csr: CertificateSigningRequest, type: 'Normal' | 'Warning', reason: Reason): void
  /** Makes an Event on the Node that a denied or held request is for. */
  reportNode?(node: KubeNode, reason: Reason): void
  /**
   * Keeps a decision before it is written; what it rejects is not decided, and tried again. Held requests and what others
   * decided are kept too.
   */
  record?(decision: AuditedDecision): Promise<void>
  /** Told what a shadow policy would have decided beside the policy in force; once for each pair of verdicts. */
  onShadow?(comparison: Comparison): void
  /** Told of every change of a Node, reduced to what is judged and its condition Ready. */
  onNode?(type: ChangeType, node: KubeNode, previous?: KubeNode): void
  /** Told every verdict that took effect, and every new reason for leaving a request pending. */
  onVerdict?(csr: CertificateSigningRequest, verdict: Verdict): void
}
