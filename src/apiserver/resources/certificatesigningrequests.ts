/** certificates.k8s.io/v1 CertificateSigningRequest, by rules. */
import { type CertificateSigningRequest, resources } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { csrColumns } from './csr-columns.ts'
import {
  approvalErrors,
  conditionErrors,
  conditionLeniency,
  preserveApproval,
  removalErrors,
  stampConditions,
} from './csr-conditions.ts'
import { certificateComplaint, specErrors, specLeniency } from './csr-content.ts'
import { pathSegment } from './names.ts'
import type { StoredResource, WriteContext } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

function certificateErrors(csr: CertificateSigningRequest): FieldError[] {
  const complaint = certificateComplaint(csr.status?.certificate ?? '')
  // The data itself is never shown.
  return complaint ? [fieldError.invalid('status.certificate', '<certificate data>', complaint)] : []
}

function validate(csr: CertificateSigningRequest): FieldError[] {
  return [...specErrors(csr), ...conditionErrors(csr), ...certificateErrors(csr)]
}

/** Which path is written to decides who may approve and who may set the certificate. */
interface Allowed {
  approval: boolean
  certificate: boolean
}

function validateUpdate(allowed: Allowed) {
  return (next: CertificateSigningRequest, previous: CertificateSigningRequest): FieldError[] => {
    const [before, after] = [previous.status?.certificate ?? '', next.status?.certificate ?? '']
    const errors = [
      ...specErrors(next, specLeniency(previous)),
      ...conditionErrors(next, conditionLeniency(previous)),
      // a bad certificate that is already there may stay.
      ...(before === after || certificateComplaint(before) ? [] : certificateErrors(next)),
      ...removalErrors(next, previous),
      ...(allowed.approval ? [] : approvalErrors(next, previous)),
    ]
    if (before !== after && !allowed.certificate) {
      errors.push(fieldError.forbidden('status.certificate', 'updates may not set certificate content'))
    } else if (before !== after && before !== '') {
      const text = 'updates may not modify existing certificate content'
      errors.push(fieldError.forbidden('status.certificate', text))
    }
    return errors
  }
}

/** whoever is authenticated is the requestor, whatever the body says. */
function setRequestor(csr: CertificateSigningRequest, { user }: WriteContext): void {
  const { username: _username, uid: _uid, groups: _groups, extra: _extra, ...asked } = csr.spec ?? {}
  csr.spec = {
    ...asked,
    username: user.username,
    ...(user.uid && { uid: user.uid }),
    ...(user.groups.length > 0 && { groups: [...user.groups] }),
    ...(user.extra && Object.keys(user.extra).length > 0 && { extra: structuredClone(user.extra) }),
  } as CertificateSigningRequest['spec']
  csr.status = {}
}

/** PUT and PATCH of the object itself change metadata only. What is kept is shared: nothing changes it from here on. */
function keepSpecAndStatus(next: CertificateSigningRequest, previous: CertificateSigningRequest): void {
  next.spec = previous.spec
  next.status = previous.status ?? {}
}

/** only the conditions are taken. */
function takeConditions(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  { now }: WriteContext,
): void {
  const conditions = next.status?.conditions
  keepSpecAndStatus(next, previous)
  const { conditions: _replaced, ...rest } = next.status ?? {}
  next.status = { ...rest, ...(conditions && { conditions }) }
  stampConditions(next, previous, now)
}

/** conditions and certificate are taken, but not what says approved or denied. */
function takeStatus(
  next: CertificateSigningRequest,
  previous: CertificateSigningRequest,
  { now }: WriteContext,
): void {
  next.spec = previous.spec
  next.status ??= {}
  stampConditions(next, previous, now)
  preserveApproval(next, previous)
}

const readAndWrite = ['get', 'patch', 'update'] as const

export const certificateSigningRequests: StoredResource<CertificateSigningRequest> = {
  ...storedDefaults,
  ...resources.certificateSigningRequests,
  singular: 'certificatesigningrequest',
  shortNames: ['csr'],
  columns: csrColumns,
  prepareForCreate: setRequestor,
  prepareForUpdate: keepSpecAndStatus,
  validate,
  validateUpdate: validateUpdate({ approval: false, certificate: false }),
  validateName: pathSegment,
  subresources: {
    approval: {
      verbs: readAndWrite,
      prepareForUpdate: takeConditions,
      validateUpdate: validateUpdate({ approval: true, certificate: false }),
    },
    status: {
      verbs: readAndWrite,
      prepareForUpdate: takeStatus,
      validateUpdate: validateUpdate({ approval: false, certificate: true }),
    },
  },
  selectableFields: [{ path: 'spec.signerName', value: ({ spec }) => spec.signerName ?? '' }],
}
