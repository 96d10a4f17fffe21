/** What is known of the world at one step. Facts only: how they were gathered is the adapter's business. */
import type { TrustRole } from '../kube/rollcall/trust-bundle.ts'
import type { ConsumerKind, ProofLevel } from '../kube/rollcall/trust-consumer.ts'

/** A chain a server may present: the old leaf, the new one with new-signed-by-old, the new one alone. */
export type ChainMode = 'old' | 'bridged' | 'bare'

export interface Observations {
  /**
   * The plan's sequence as stored when the gathering of these facts began. Facts from before the last recorded change may
   * not show what was ordered since: nothing is decided by them.
   */
  gatheredAfter: number
  /** Milliseconds since the epoch. */
  now: number
  /** How far the clocks of orchestrator, API and consumers are apart, in milliseconds. */
  clockSkew: number
  leader: { identity: string; token: number }
  /** An emergency of the same role that was begun since, by name. */
  supersededBy?: string
  preflight: PreflightFacts
  /** The two CAs, once they exist. */
  authorities: ReadonlyMap<number, AuthorityFacts>
  /** Prepared: certificates read back from the store and verified against each other. */
  artefacts: { newCa: boolean; newByOld: boolean; oldByNew: boolean }
  /** Signed bundles of this role that are at hand. */
  bundles: readonly BundleFacts[]
  sinks: readonly SinkFacts[]
  servers: readonly ServerFacts[]
  signer: SignerFacts
  consumers: readonly ConsumerFacts[]
  leaves: LeafFacts
  health: HealthFacts
  /** Orders that cannot be carried out until somebody has looked. Absent: none is known of. */
  stuck?: readonly StuckOrder[]
  /** What people have to do with their own hands now. Absent: nothing is known of. */
  awaited?: readonly StuckOrder[]
}

/** An order that failed for good: a hook of an operator, a control-plane node that did not come back healthy. */
export interface StuckOrder {
  /** Which one, as an operator knows it: `hook present of cp-1`. */
  about: string
  message: string
}

export interface PreflightFacts {
  /** Another rotation of the role that is not over, by name. */
  otherRotation?: string
  oldKeyUsable: boolean
  /** No etcd member or control-plane replica is down. */
  quorumHealthy: boolean
  backupRecent: boolean
  /** Why nobody here can change the CA of this role; absent: somebody can. */
  unmanaged?: string
}

export interface AuthorityFacts {
  generation: number
  subject: string
  /** Hexadecimal, absent where the certificate has none. */
  keyIdentifier?: string
  /** SHA-256 of the public key. */
  key: string
  algorithm: string
  notBefore: number
  notAfter: number
  /** Whether it may sign a CA below it. */
  mayCrossSign: boolean
  /** Its key is where it should be and signs. */
  keyUsable: boolean
}

export interface BundleFacts {
  generation: number
  digest: string
  /** CA generations that it trusts. */
  anchors: readonly number[]
}

/** A place consumers take trust from. */
export interface SinkFacts {
  id: string
  /** Whether machines take their first trust from it. */
  seed: boolean
  /** Read back: which bundle is there; 0 where it is none of ours. */
  generation: number
  /** CA generations in what was read back: what counts is content, not the number. */
  anchors: readonly number[]
  /** A machine that trusts what it holds, and nothing else, was not let through: where, and why. Absent: it was, or is of no use. */
  refused?: string
  /** What a human has to do before it holds what was written. */
  waitsFor?: string
}

/** A replica that presents a chain of this role or judges clients by it. */
export interface ServerFacts {
  id: string
  instance: string
  healthy: boolean
  /** Absent where it presents no chain of this role. */
  presents?: { authority: number; mode: ChainMode; since: number }
  /** Handshakes with its present chain from clients that trust only the old, only the new, both. */
  probes?: { oldOnly: boolean; newOnly: boolean; both: boolean }
  /** Generation of the bundle by which it judges the peers of this role; absent where it judges none. */
  judgesBy?: number
  /** CA generations in it. */
  accepts?: readonly number[]
  /** L4: a certificate of this CA was tried on this instance and refused. */
  refused?: readonly number[]
}

export interface SignerFacts {
  /** Which CA signs new leaves; absent: none (frozen). */
  authority?: number
  mode?: ChainMode
  /** A canary leaf of this CA was issued and accepted by every server. */
  canaryAccepted: readonly number[]
}

export interface ConsumerFacts {
  id: string
  kind: ConsumerKind
  roles: readonly TrustRole[]
  /** The process or boot that lives now. */
  instance: string
  lastSeen: number
  /** Its Node is gone, its pod has ended. */
  gone?: true
  node?: string
  zone?: string
  /** An agent takes orders on its node; without one only a restart or a human helps. */
  orderable: boolean
  /** Its process reads a new bundle without a restart. */
  reloads: boolean
  /** What is on its disk, or in the place it mounts. */
  onDisk?: number
  proof?: ProofFacts
  /** The last time this consumer refused a chain. */
  lastFailure?: number
  /** Key algorithms it can verify, where known. */
  algorithms?: readonly string[]
  /** Nodes: not Ready. */
  unavailable?: boolean
  /** No agent is there, and no server can be made to try it: the word of a named human counts for it. */
  unprobeable?: true
}

export interface ProofFacts {
  level: ProofLevel
  /** Of the bundle. */
  generation: number
  instance: string
  at: number
  /** L3: CAs whose bare chain this instance has verified, with this bundle. */
  authorities?: readonly number[]
  /** What it proves of CAs that are not among them: nothing, where no report says which bundle is loaded. Absent: L2. */
  unproven?: 0
  /** L4: CAs whose bare chain this instance has refused, with this bundle. */
  refuses?: readonly number[]
}

export interface LeafFacts {
  /** Live leaves: who holds one of which CA. A holder with leaves of both counts for both. */
  holders: ReadonlyMap<number, readonly LeafHolder[]>
  /** The ledger is older than the longest leaf, or a human has said that nothing is missing from it. */
  ledgerComplete: boolean
  /** CA to who used a certificate of it, or a connection made by one, and when last. */
  lastUsed: ReadonlyMap<number, ReadonlyMap<string, number>>
}

export interface LeafHolder {
  /** Id of a consumer, or the certificate's own name. */
  holder: string
  notAfter: number
  /** It can be told to renew. */
  renewable: boolean
}

export interface HealthFacts {
  /** Share of requests that fail, 0 to 1. */
  errorRate: number
  baselineErrorRate: number
  /** Of the members of the present wave. */
  failedInWave: number
  /** Age of the oldest undecided request for a certificate, in milliseconds. */
  oldestPendingRequest: number
}
