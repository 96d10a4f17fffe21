import type { MachineRecord } from '../inventory/machine-record.ts'
import type { RequestedSan } from '../requested-sans.ts'
import type { EvidenceLevel } from './level.ts'

/**
 * What a provider says about a node. `proven`: by canonical name or address, the words that name the source; what is
 * missing may still come. `conflict`: it says two things at once, which only a correction can lift. `error`: it could
 * not be asked, which says nothing about the node.
 */
export type Evidence = { proven: ReadonlyMap<string, string> } | { conflict: string } | { error: string }

/** A source of evidence as it is at the moment of judgement: it answers without asking anybody. */
export interface EvidenceProvider {
  /** As verdicts show it, e.g. `inventory ConfigMap kube-system/inventory`. */
  name: string
  level: EvidenceLevel
  evidence(nodeName: string, sans: readonly RequestedSan[]): Evidence
  /** The nodes that it gives the name or address (canonical form) to; empty also while it cannot be asked. */
  holders(canonical: string): readonly string[]
  /** What it says about the node besides, for pools to select by. */
  attributes?(nodeName: string): Readonly<Record<string, string>>
  /** The machine that the node is; undefined: it knows none. To be asked where `evidence` gives neither error nor conflict. */
  machine?(nodeName: string): MachineRecord | undefined
  /** Whether the node may carry this address (4 or 16 bytes) while its Node lists it. */
  mayCarry?(nodeName: string, address: Uint8Array): boolean
}
