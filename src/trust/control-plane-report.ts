/**
 * How the control plane of a node stands: an annotation on the node's own Lease, beside the report of what it trusts. What is
 * said here was seen by the node's agent in processes and handshakes; nobody believes it of another node.
 */
import type { TrustRole } from '../kube/rollcall/trust-bundle.ts'
import type { ChainMode } from '../rollover/observations.ts'
import type { KeyId } from './control-plane-orders.ts'
import type { SealProof } from './seal-proof.ts'

export const controlPlaneReportAnnotation = 'rollcall.dev/control-plane'

export const controlPlaneComponents = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const
export type ControlPlaneComponent = (typeof controlPlaneComponents)[number]

/** Roles whose CA the agent of a control-plane node changes. */
export const controlPlaneRoles = ['apiserver-serving', 'client'] as const satisfies readonly TrustRole[]
export type ControlPlaneRole = (typeof controlPlaneRoles)[number]

/** Of one role, as the node has it; absent members: as kubeadm made it. */
export interface RoleReport {
  /** Fence of the orders that it is about. */
  token: number
  sequence: number
  /** Settled: it is so, and was seen to be. Undone: it was tried, did not come up, and is as it was before. */
  state: 'Settled' | 'Working' | 'Undone'
  /** Of Working and Undone: what is in the way. */
  why?: string
  trust: number
  sign?: KeyId
  own?: KeyId
  present?: { authority: KeyId; mode: ChainMode; since: number }
}

export interface ControlPlaneReport {
  /** X25519 key of this process, base64; CA keys are sealed to it. */
  seal: string
  /** That it is this node's. Absent: its certificate's key is not at hand, and nothing can be sealed to it. */
  proof?: SealProof
  /** All components answer. */
  healthy: boolean
  /** When the first of the certificates ends that were made for it, in milliseconds since the epoch. Absent: none was. */
  ends?: number
  /** The process that runs of each component: `PID/START`. */
  instances: Readonly<Partial<Record<ControlPlaneComponent, string>>>
  /** CAs whose key is on this node. */
  authorities: Readonly<Record<ControlPlaneRole, readonly KeyId[]>>
  /** CAs whose key is asked for. */
  lacks: Readonly<Record<ControlPlaneRole, readonly KeyId[]>>
  roles: Readonly<Partial<Record<ControlPlaneRole, RoleReport>>>
  /** Milliseconds since the epoch. */
  seenAt: number
}

const mostText = 8192

export function encodeControlPlaneReport(report: ControlPlaneReport): string {
  return JSON.stringify(report)
}

/** The report, or undefined for text that is none: what a node writes is judged strictly. */
export function decodeControlPlaneReport(text: string | undefined): ControlPlaneReport | undefined {
  if (text === undefined || text.length > mostText) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined // no JSON is no report
  }
  return isReport(value) ? value : undefined
}

function isReport(value: unknown): value is ControlPlaneReport {
  if (!isRecord(value)) return false
  const { seal, proof, healthy, ends, instances, authorities, lacks, roles, seenAt } = value
  return (
    (proof === undefined ||
      (isRecord(proof) &&
        typeof proof.chain === 'string' &&
        typeof proof.signature === 'string' &&
        (proof.identity === undefined ||
          (isRecord(proof.identity) &&
            typeof proof.identity.key === 'string' &&
            typeof proof.identity.signature === 'string')))) &&
    typeof seal === 'string' &&
    Buffer.from(seal, 'base64').length === 32 &&
    typeof healthy === 'boolean' &&
    (ends === undefined || isCount(ends)) &&
    isCount(seenAt) &&
    isRecord(instances) &&
    Object.values(instances).every(one => typeof one === 'string' && one.length <= 64) &&
    [authorities, lacks].every(
      table => isRecord(table) && controlPlaneRoles.every(role => isKeyIds(table[role])),
    ) &&
    isRecord(roles) &&
    Object.values(roles).every(isRoleReport)
  )
}

const keyId = /^[0-9a-f]{8,64}$/
const isKeyId = (value: unknown): value is KeyId => typeof value === 'string' && keyId.test(value)

function isKeyIds(value: unknown): boolean {
  return Array.isArray(value) && value.length <= 16 && value.every(isKeyId)
}

function isRoleReport(value: unknown): value is RoleReport {
  if (!isRecord(value)) return false
  const { token, sequence, state, why, trust, sign, own, present } = value
  return (
    [token, sequence, trust].every(isCount) &&
    (state === 'Settled' || state === 'Working' || state === 'Undone') &&
    (why === undefined || (typeof why === 'string' && why.length <= 1024)) &&
    [sign, own].every(one => one === undefined || isKeyId(one)) &&
    (present === undefined ||
      (isRecord(present) &&
        isKeyId(present.authority) &&
        ['old', 'bridged', 'bare'].includes(present.mode as string) &&
        isCount(present.since)))
  )
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
