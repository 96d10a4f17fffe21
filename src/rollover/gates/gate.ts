/** A gate is open or names what keeps it closed. It never opens by itself after some time. */

export type BlockerCode =
  | 'AlgorithmUnsupported'
  | 'ApprovalMissing'
  | 'ArtefactMissing'
  | 'BackupMissing'
  | 'CeremonyNeeded'
  | 'ChainNotServed'
  | 'ClockDisputed'
  | 'ConfirmationNeeded'
  | 'DialRefused'
  | 'ErrorBudget'
  | 'Fenced'
  | 'IssuerNotSwitched'
  | 'KeyUnusable'
  | 'LedgerIncomplete'
  | 'LifeTooShort'
  | 'LiveLeaf'
  | 'NotRefused'
  | 'Offline'
  | 'OldChainInUse'
  | 'OrderFailed'
  | 'OtherRotation'
  | 'QuorumUnhealthy'
  | 'RoleUnmanaged'
  | 'SinkStale'
  | 'Soaking'
  | 'SubjectNotUnique'
  | 'StaleObservations'
  | 'StateMismatch'
  | 'StepAwaited'
  | 'TrustFailure'
  | 'Unproven'
  | 'WaveFailures'

export interface Blocker {
  code: BlockerCode
  /** Whom or what it is about: id of a consumer, server or sink. */
  about: string
  message: string
}

export interface Gate {
  name: string
  open: boolean
  proven: number
  total: number
  /** All of them; who prints says how many it shows. */
  blockers: readonly Blocker[]
}

/** A gate that is open when nothing blocks it. */
export function gate(name: string, total: number, blockers: readonly Blocker[]): Gate {
  return { name, open: blockers.length === 0, proven: Math.max(0, total - blockers.length), total, blockers }
}

/** As history and status print it. */
export function evidenceOf({ name, proven, total }: Gate): string {
  return `${name} ${proven}/${total}`
}
