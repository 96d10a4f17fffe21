import { RollcallError } from '../errors.ts'
import { csrCondition } from '../kube/csr-conditions.ts'
import type { CertificateSigningRequest, CsrCondition } from '../kube/types.ts'

/**
 * What has become of a request (K-40): the issued certificate (base64 of PEM) when it is approved too, undefined while
 * it is undecided. Throws CSR_DENIED, CSR_FAILED, or CSR_GONE when the name now belongs to another object.
 * As in the kubelet only the type of a condition counts, not its status.
 */
export function outcomeOf(request: CertificateSigningRequest, uid: string | undefined): string | undefined {
  const { name } = request.metadata
  if (request.metadata.uid !== uid) {
    throw new RollcallError('CSR_GONE', `CertificateSigningRequest "${name}" was replaced by another one.`, {
      name,
    })
  }
  const denied = csrCondition(request, 'Denied')
  if (denied) throw refusal('CSR_DENIED', 'was denied', name, denied)
  const failed = csrCondition(request, 'Failed')
  if (failed) throw refusal('CSR_FAILED', 'failed', name, failed)
  return csrCondition(request, 'Approved') ? request.status?.certificate || undefined : undefined
}

/** The request is not there any more. */
export function deleted(name: string): RollcallError {
  return new RollcallError(
    'CSR_GONE',
    `CertificateSigningRequest "${name}" was deleted before it was answered.`,
    {
      name,
    },
  )
}

function refusal(
  code: 'CSR_DENIED' | 'CSR_FAILED',
  verb: string,
  name: string,
  { reason = '', message = '' }: CsrCondition,
): RollcallError {
  const text = [reason, message].filter(part => part !== '').join(': ') || 'no reason was given'
  return new RollcallError(code, `CertificateSigningRequest "${name}" ${verb}: ${text}`, {
    name,
    reason,
    message,
  })
}
