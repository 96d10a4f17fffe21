/** Which requests have had their time: C-40, Kubernetes' rules and ages. */
import { csrCondition } from '../kube/csr-conditions.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'

const hour = 3_600_000
const decidedAge = hour
const pendingAge = 24 * hour

export type CleaningReason =
  | 'denied over 1 h ago'
  | 'failed over 1 h ago'
  | 'pending for over 24 h'
  | 'approved over 24 h ago, never issued'
  | 'issued over 1 h ago'
  | 'the certificate has expired'

/** Why the request is to be deleted at `now` (milliseconds since the epoch), or undefined. Ages are strictly greater. */
export function cleaningReason(csr: CertificateSigningRequest, now: number): CleaningReason | undefined {
  const older = (time: string | undefined, age: number) => time !== undefined && now - Date.parse(time) > age
  const updated = (type: string) => csrCondition(csr, type)?.lastUpdateTime
  const issued = csr.status?.certificate
  if (older(updated('Denied'), decidedAge)) return 'denied over 1 h ago'
  if (older(updated('Failed'), decidedAge)) return 'failed over 1 h ago'
  if ((csr.status?.conditions ?? []).length === 0 && older(csr.metadata.creationTimestamp, pendingAge))
    return 'pending for over 24 h'
  if (!csrCondition(csr, 'Approved')) return undefined
  if (!issued)
    return older(updated('Approved'), pendingAge) ? 'approved over 24 h ago, never issued' : undefined
  if (older(updated('Approved'), decidedAge)) return 'issued over 1 h ago'
  return firstCertificateExpired(issued, now) ? 'the certificate has expired' : undefined
}

function firstCertificateExpired(certificate: string, now: number): boolean {
  const [leaf] = parseCertificatesPem(Buffer.from(certificate, 'base64').toString('latin1'))
  return leaf !== undefined && now > leaf.notAfter
}
