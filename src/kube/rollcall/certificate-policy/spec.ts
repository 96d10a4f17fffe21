/** What an operator writes in a CertificatePolicy. What each field means is told once, in schema.ts. */
import type { KubeObject } from '../../types.ts'

/** Weakest first. */
export const evidenceLevels = ['NodeStatus', 'ProtectedNodeStatus', 'Inventory'] as const
export const presets = ['strict', 'inventory', 'lab'] as const
/** The most careful last. */
export const modes = ['enforce', 'manual', 'dryRun'] as const
export const actions = ['Deny', 'Hold', 'Ignore'] as const
export const keyTypes = [
  'P-256',
  'P-384',
  'P-521',
  'Ed25519',
  'RSA-2048',
  'RSA-3072',
  'RSA-4096',
  'RSA-8192',
] as const

/**
 * Reasons whose outcome a policy may change. Not among them: those that say nothing about the node (a source that fails),
 * and those by which a request is not ours to decide.
 */
export const actionableReasons = [
  'RequesterNotNode',
  'Malformed',
  'BadSignature',
  'WeakKey',
  'SubjectMismatch',
  'UsagesInvalid',
  'ForbiddenExtension',
  'ForbiddenSanType',
  'InvalidSan',
  'SanNotAllowed',
  'ReservedName',
  'OwnedByOtherNode',
  'NodeNotFound',
  'NodeExists',
  'MachineUnknown',
  'MachineNotReady',
  'JoinWindowMissed',
  'InventoryAmbiguous',
  'SanUnproven',
  'LifetimeOutOfRange',
  'Throttled',
] as const

export type PolicyEvidence = (typeof evidenceLevels)[number]
export type PolicyMode = (typeof modes)[number]
export type PolicyAction = (typeof actions)[number]
export type ActionableReason = (typeof actionableReasons)[number]
export type PolicyKeyType = (typeof keyTypes)[number]

export interface SanTerms {
  dnsNames?: readonly string[]
  ipRanges?: readonly string[]
  maxCount?: number
}

export interface LifetimeTerms {
  minSeconds?: number
  maxSeconds?: number
}

/** What may be said of all nodes and of the nodes of a pool alike. */
export interface PolicyTerms {
  evidence?: PolicyEvidence
  mode?: PolicyMode
  sans?: SanTerms
  keys?: readonly PolicyKeyType[]
  keyEncipherment?: 'allow' | 'deny'
  lifetime?: LifetimeTerms
  approvalsPerHour?: number
}

export interface Pool extends PolicyTerms {
  name: string
  nodeLabels?: Readonly<Record<string, string>>
  inventoryAttributes?: Readonly<Record<string, string>>
  bootstrapGroups?: readonly string[]
}

/** Exactly one of them. */
export interface InventoryLocation {
  configMap?: string
  secret?: string
  file?: string
}

export interface CertificatePolicySpec extends PolicyTerms {
  preset?: (typeof presets)[number]
  shadowOf?: string
  trustOlderNodes?: boolean
  pools?: readonly Pool[]
  inventory?: InventoryLocation
  allowedRanges?: readonly string[]
  serviceRanges?: readonly string[]
  podRanges?: readonly string[]
  apiServers?: readonly string[]
  clusterDomain?: string
  waitSeconds?: number
  bootstrapGroups?: readonly string[]
  bootstrap?: 'Credential' | 'Inventory'
  joinWindowSeconds?: number
  rebootstrap?: 'allow' | 'deny'
  releasedAddresses?: 'held' | 'free'
  evidenceFrom?: readonly string[]
  approvers?: number
  holdSeconds?: number
  ownKey?: 'allow' | 'deny'
  actions?: Readonly<Partial<Record<ActionableReason, PolicyAction>>>
}

export interface PolicyCondition {
  type: 'Accepted' | 'InForce'
  status: 'True' | 'False'
  reason: string
  message: string
  observedGeneration?: number
  lastTransitionTime?: string
}

/** A request that a shadow judges otherwise. */
export interface ShadowDifference {
  request: string
  node?: string
  enforced: string
  shadow: string
}

export interface ShadowReport {
  compared: number
  different: number
  /** The latest ones. */
  latest?: readonly ShadowDifference[]
}

export interface CertificatePolicyStatus {
  observedGeneration?: number
  conditions?: readonly PolicyCondition[]
  shadow?: ShadowReport
}

export interface CertificatePolicy extends KubeObject {
  spec: CertificatePolicySpec
  status?: CertificatePolicyStatus
}
