/** The three plug-ins that guard CertificateSigningRequests (A-50 to A-52). */
import { type CertificateSigningRequest, signerNames, type UserInfo } from '../../../kube/types.ts'
import { organizations } from '../../../x509/name.ts'
import type { AdmissionRequest, Attributes, Decision } from '../access.ts'
import { quoted } from '../go-quote.ts'
import { systemGroups } from '../system-identities.ts'
import { refuse } from './refuse.ts'
import { requestedSubject } from './requested-subject.ts'
import { semanticallyEqual } from './semantically-equal.ts'

type Authorize = (attributes: Attributes) => Decision

/** Whether the user may `verb` (approve, sign) for the signer, by its name or by `DOMAIN/*`. */
export function mayForSigner(
  authorize: Authorize,
  user: UserInfo,
  verb: 'approve' | 'attest' | 'sign',
  signerName: string,
): boolean {
  const [domain = ''] = signerName.split('/')
  return [signerName, `${domain}/*`].some(
    name =>
      authorize({ user, verb, group: 'certificates.k8s.io', version: '*', resource: 'signers', name })
        .allowed,
  )
}

/** The old object's signerName counts: the new one is the caller's word (A-50). */
function signerOf(request: AdmissionRequest): string {
  return (request.oldObject as CertificateSigningRequest | undefined)?.spec.signerName ?? ''
}

/** CertificateApproval: every update of `/approval`, even one that changes nothing. Throws ApiError 403. */
export function guardApproval(request: AdmissionRequest, authorize: Authorize): void {
  if (request.operation !== 'UPDATE' || request.subresource !== 'approval') return
  const signerName = signerOf(request)
  if (mayForSigner(authorize, request.user, 'approve', signerName)) return
  throw refuse(request, `user not permitted to approve requests with signerName ${quoted(signerName)}`)
}

/** CertificateSigning: an update of `/status` that changes certificate or conditions. Throws ApiError 403. */
export function guardSigning(request: AdmissionRequest, authorize: Authorize): void {
  if (request.operation !== 'UPDATE' || request.subresource !== 'status') return
  const next = (request.object as CertificateSigningRequest | undefined)?.status
  const previous = (request.oldObject as CertificateSigningRequest | undefined)?.status
  const same =
    (next?.certificate ?? '') === (previous?.certificate ?? '') &&
    semanticallyEqual(next?.conditions, previous?.conditions)
  if (same) return
  const signerName = signerOf(request)
  if (mayForSigner(authorize, request.user, 'sign', signerName)) return
  throw refuse(request, `user not permitted to sign requests with signerName ${quoted(signerName)}`)
}

/** CertificateSubjectRestriction: no API client certificate for system:masters (A-52). Throws ApiError 403. */
export function restrictSubject(request: AdmissionRequest): void {
  if (request.operation !== 'CREATE' || request.subresource !== '') return
  const object = request.object as CertificateSigningRequest
  const signerName = object.spec?.signerName
  if (signerName !== signerNames.apiserverClient) return
  const requested = requestedSubject(object)
  if (!requested.ok) throw refuse(request, `failed to parse CSR: ${requested.reason}`)
  if (!organizations(requested.subject).includes(systemGroups.masters)) return
  throw refuse(request, `use of ${signerName} signer with ${systemGroups.masters} group is not allowed`)
}
