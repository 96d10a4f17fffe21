import type { Registry } from 'prom-client'
import type { AskAccess } from '../approve/access-review.ts'
import type { EvidenceSource } from '../approve/evidence/external/source.ts'
import type { ApprovalPolicy } from '../approve/policy.ts'
import type { Signer } from '../keys/signer.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Clock, Disk, Log, Random } from '../ports.ts'
import type { AuthoritySource } from '../sign/authority.ts'
import type { Leaf } from '../sign/leaf.ts'
import type { Ledger } from '../sign/ledger.ts'
import type { StartDecisionLog } from '../survey/audit/start-decision-log.ts'
import type { LookAtServing } from '../survey/serving-probes/start-probes.ts'
import type { RootCertificates } from '../trust/root-ca-publisher.ts'
import type { ControllerName } from './controller-name.ts'

export interface SigningCa {
  /** PEM, exactly one certificate (C-21). */
  certificate: string
  signer: Signer
}

export interface ControllersOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  /**
   * How many requests are judged, and signed, at a time; absent: 5, as in Kubernetes. Each may wait for a disk, which takes
   * what waits together in one go.
   */
  workers?: number
  /** What may be asked for by whom, from an API in the same process; absent: by SubjectAccessReviews. */
  askAccess?: AskAccess
  /** By signerName: a CA that stays, or a source of one. A signer that is left out signs nothing (C-20). */
  signers: Readonly<Partial<Record<string, SigningCa | AuthoritySource>>>
  /** The signer's cap: seconds that no certificate lives longer than. */
  certificateLifetimeSeconds: number
  /** PEM bundle for kube-root-ca.crt; empty: it is not published. */
  rootCertificates: string | RootCertificates
  /** Absent: all. */
  only?: readonly ControllerName[]
  /** A policy that never changes. Absent: that of `policyFile`. */
  approvalPolicy?: ApprovalPolicy | undefined
  /** A file of CertificatePolicies, read again while it runs. Absent: those of the cluster, by which the one named default judges. */
  policyFile?: string | undefined
  /** Seconds after which the API is asked to end the watches of requests and nodes; absent: 300–600 at random. */
  watchTimeoutSeconds?: number
  /** Absent: no ledger of leaves is kept. */
  ledger?: Ledger
  /**
   * Certificates issued earlier, from the ledger; absent: known are those of requests that are still there. Each iteration
   * reads anew: it is read again when this process becomes leader again, and when it could not be read.
   */
  issued?: AsyncIterable<Leaf>
  /** Webhooks and programs that policies may name as sources of evidence. */
  evidenceSources?: readonly EvidenceSource[] | undefined
  /** Where a policy file, and the inventory file of a policy, are read from. */
  disk?: Pick<Disk, 'read'>
  /** Keeps every decision in a hash-chained file before it takes effect; absent: decisions are told to the log alone. */
  decisionLog?: Pick<StartDecisionLog, 'path' | 'disk' | 'headReceiver'> | undefined
  /** Where counters are registered; absent: none. */
  metrics?: Registry
  /** Writes conditions about their certificates onto Nodes, by `issued`; absent: none. */
  nodeConditions?: { intervalSeconds: number } | undefined
  /** Looks from time to time at what nodes serve; absent: never. */
  probes?: { look: LookAtServing; intervalSeconds: number; loopback?: boolean } | undefined
  /** Makes a canary request from time to time; absent: none. `asNode` acts as the canary (survey/canary). */
  canary?: { asNode: KubeClient; intervalSeconds: number } | undefined
  /** What else runs exactly while these do, e.g. only while this process leads. */
  besides?: () => RunningControllers
  /** Absent: work at once, without election. `identity` must be unique to the process. */
  leaderElection?: { identity: string; namespace: string; name: string }
}

export interface RunningControllers {
  /** Resolves when nothing runs any more, and the lease is given up. */
  stop(): Promise<void>
}
