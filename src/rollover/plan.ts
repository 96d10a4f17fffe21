/** What a rotation of one role's CA carries from step to step. All times are milliseconds since the epoch. */
import type { RotationPhase, RotationReason } from '../kube/rollcall/ca-rotation.ts'
import type { TrustRole } from '../kube/rollcall/trust-bundle.ts'
import type { HistoryEntry } from './history.ts'
import type { Policy } from './policy.ts'

export type Phase = RotationPhase

/** What the operator asked for (spec), read again at every step. */
export interface Wishes {
  pause: boolean
  /** A pause that began at or before this sequence is over. */
  resume: number
  rollback: boolean
  approvals: readonly string[]
  exclusions: readonly Exclusion[]
  acknowledgements: readonly Acknowledgement[]
  /** Emergency only: who has confirmed. */
  confirmedBy?: string
}

/** I14: nobody is left behind without a name and a reason. */
export interface Exclusion {
  consumer: string
  by: string
  reason: string
  at: number
}

/** A human's word for a consumer that cannot be probed. */
export interface Acknowledgement {
  consumer: string
  by: string
  at: number
}

/** Who may act now: members of one wave, each not before its own moment. */
export interface Wave {
  number: number
  since: number
  members: readonly { consumer: string; notBefore: number }[]
}

export interface Plan {
  /** UID of the CARotation: jitter and orders derive from it. */
  id: string
  role: TrustRole
  reason: RotationReason
  author: string
  /** CA generations. */
  from: number
  to: number
  policy: Policy
  wishes: Wishes

  phase: Phase
  phaseSince: number
  paused?: { since: number; sequence: number; reason: string; by: string }
  /** Rises with each recorded change. Every order carries it, and who takes orders refuses a lower one. */
  sequence: number
  /** Token of the leader that recorded the last change (I7). */
  fencing: number
  /** Generation of the signed bundle that sinks and consumers should hold; absent: what they have. */
  bundle?: number
  /** The same for servers, which judge clients by it: they drop the old CA before the others do. */
  serverBundle?: number
  /** The generation by which a bundle without the old CA may first have reached a consumer: proofs before it are void. */
  narrowedAt?: number
  /** Whether the deadline has overruled the waiting for laggards (DeadlineMode). */
  deadline: boolean
  wave?: Wave
  excluded: readonly Exclusion[]
  history: readonly HistoryEntry[]
}

export const finalPhases: ReadonlySet<Phase> = new Set<Phase>(['Done', 'Aborted', 'RolledBack'])

export interface NewPlan {
  id: string
  role: TrustRole
  reason: RotationReason
  author: string
  from: number
  to: number
  policy: Policy
  wishes: Wishes
  /** Sequence at which the last rotation of the role ended: who takes orders remembers it. */
  after?: number
  now: number
}

/** A rotation that has not done anything yet. */
export function newPlan({ now, after = 0, ...asked }: NewPlan): Plan {
  const phase = asked.reason === 'Compromise' ? 'Freezing' : 'Preflight'
  return {
    ...asked,
    phase,
    phaseSince: now,
    sequence: after,
    fencing: 0,
    deadline: false,
    excluded: [],
    history: [],
  }
}

export const noWishes: Wishes = {
  pause: false,
  resume: 0,
  rollback: false,
  approvals: [],
  exclusions: [],
  acknowledgements: [],
}
