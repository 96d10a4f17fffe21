/** What a node says it has loaded: an annotation on its own Lease, the one object that only this node may write. */
import { type TrustRole, trustRoles } from '../kube/rollcall/trust-bundle.ts'
import type { ProofLevel } from '../kube/rollcall/trust-consumer.ts'

export const trustReportAnnotation = 'rollcall.dev/trust'

export interface ReportedTrust {
  role: TrustRole
  generation: number
  /** SHA-256 over the anchors that are loaded. */
  digest: string
  /** `apiserver`: the embedded API, in its own Lease. */
  subject: 'agent' | 'kubelet' | 'apiserver'
  instance: { bootID: string; pid: number; startTicks: number }
  /**
   * How it is known: read from the agent's own memory; the process is newer than the file; the process counts a reload.
   */
  evidence: 'memory' | 'newer-process' | 'reload-metric'
  /** Milliseconds since the epoch. */
  loadedAt: number
  /** When the agent last saw that it is so, in milliseconds; it says so again well within the age that proofs may have. */
  seenAt?: number
  /** CAs whose bare chain it refused with this bundle. */
  refused?: number[]
  /** CAs whose bare chain it verified with this bundle, in a handshake of its own, and when (milliseconds since the epoch). */
  verified?: { authority: number; at: number }[]
  /** Key identifier, in hexadecimal, of the CA of the certificate that it presents itself. */
  holds?: string
}

const subjects: readonly string[] = ['agent', 'kubelet', 'apiserver']
const evidences: readonly string[] = ['memory', 'newer-process', 'reload-metric']
const mostReports = 16
const mostText = 8192

export function encodeTrustReport(reports: readonly ReportedTrust[]): string {
  return JSON.stringify(reports)
}

/** The reports, or undefined for text that is none: what a node writes is judged strictly, and not trusted further. */
export function decodeTrustReport(text: string | undefined): ReportedTrust[] | undefined {
  if (text === undefined || text.length > mostText) return undefined
  const value = parsed(text)
  const fits = Array.isArray(value) && value.length <= mostReports && value.every(isReport)
  return fits ? value : undefined
}

/** The process that reported. Another boot, process or start of it is another instance. */
export function instanceName({ bootID, pid, startTicks }: ReportedTrust['instance']): string {
  return `${bootID}/${pid}/${startTicks}`
}

/** A report proves that the instance has loaded the bundle (L2). That a handshake succeeds (L3) only a handshake proves. */
export function provenLevel(
  report: ReportedTrust,
  bundle: { generation: number; digest: string },
): ProofLevel {
  return report.generation === bundle.generation && report.digest === bundle.digest ? 2 : 0
}

function isReport(value: unknown): value is ReportedTrust {
  if (!isRecord(value) || !isRecord(value.instance)) return false
  const { bootID, pid, startTicks } = value.instance
  return (
    trustRoles.some(role => role === value.role) &&
    isCount(value.generation) &&
    typeof value.digest === 'string' &&
    /^[0-9a-f]{64}$/.test(value.digest) &&
    subjects.includes(value.subject as string) &&
    typeof bootID === 'string' &&
    /^[A-Za-z0-9-]{1,64}$/.test(bootID) &&
    isCount(pid) &&
    isCount(startTicks) &&
    evidences.includes(value.evidence as string) &&
    isCount(value.loadedAt) &&
    (value.seenAt === undefined || isCount(value.seenAt)) &&
    (value.refused === undefined ||
      (Array.isArray(value.refused) && value.refused.length <= 16 && value.refused.every(isCount))) &&
    (value.verified === undefined ||
      (Array.isArray(value.verified) && value.verified.length <= 16 && value.verified.every(isHandshake))) &&
    (value.holds === undefined || (typeof value.holds === 'string' && /^[0-9a-f]{8,64}$/.test(value.holds)))
  )
}

function isHandshake(value: unknown): boolean {
  return isRecord(value) && isCount(value.authority) && isCount(value.at)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // no JSON is no report; the caller treats both alike
  }
}
