/** Rules for the request and the certificate inside a CertificateSigningRequest. */
import { RollcallError } from '../../errors.ts'
import { type CertificateSigningRequest, signerNames } from '../../kube/types.ts'
import { parseCertificateOnce } from '../../x509/certificate.ts'
import { decodePemOnce } from '../../x509/pem.ts'
import { parseCertificateRequest, requireRequestSignature } from '../../x509/request.ts'
import { usageWords } from '../../x509/usages.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { signerNameErrors } from './signer-name.ts'

/** What an x509 function refused, as text; other errors are ours and pass. */
function refusal(check: () => void): string | undefined {
  try {
    check()
  } catch (error) {
    if (error instanceof RollcallError && error.code.startsWith('X509_')) return error.message
    throw error
  }
}

const textOf = (base64: string) => Buffer.from(base64, 'base64').toString('latin1')

/** What Kubernetes shows is Go's text alone. */
const goText = (complaint: string | undefined) => complaint?.replace(/^certificate request: /, '')

/** Why `spec.request` (base64 of PEM) is no signed request, or undefined. */
function requestComplaint(request: string): string | undefined {
  const [first] = decodePemOnce(textOf(request))
  if (first?.label !== 'CERTIFICATE REQUEST') return 'PEM block type must be CERTIFICATE REQUEST'
  return goText(refusal(() => requireRequestSignature(parseCertificateRequest(first.bytes))))
}

/** Why `status.certificate` (base64 of PEM) holds no certificates, or undefined. */
export function certificateComplaint(certificate: string): string | undefined {
  if (certificate === '') return undefined
  const blocks = decodePemOnce(textOf(certificate))
  for (const { label, headers, bytes } of blocks) {
    if (label !== 'CERTIFICATE') {
      return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(label)}`
    }
    if (headers) return 'no PEM block headers are permitted'
    const complaint = refusal(() => parseCertificateOnce(bytes))
    if (complaint) return complaint
  }
  return blocks.length === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}

/** What a stored object has wrong already and may therefore keep. */
export interface SpecLeniency {
  legacySigner: boolean
  unknownUsages: boolean
  duplicateUsages: boolean
}

export function specLeniency({ spec }: CertificateSigningRequest): SpecLeniency {
  const { usages = [], signerName } = spec
  return {
    legacySigner: signerName === signerNames.legacyUnknown,
    unknownUsages: usages.some(usage => !usageWords.includes(usage)),
    duplicateUsages: new Set(usages).size < usages.length,
  }
}

const knownUsages = [...usageWords].sort()

function usageErrors(usages: readonly string[], allow?: SpecLeniency): FieldError[] {
  if (usages.length === 0) return [fieldError.required('spec.usages')]
  const unknown = usages.flatMap((usage, index) =>
    knownUsages.includes(usage) || allow?.unknownUsages
      ? []
      : [fieldError.notSupported(`spec.usages[${index}]`, usage, knownUsages)],
  )
  const twice = usages.flatMap((usage, index) =>
    usages.indexOf(usage) === index || allow?.duplicateUsages
      ? []
      : [fieldError.duplicate(`spec.usages[${index}]`, usage)],
  )
  return [...unknown, ...twice]
}

/** Errors in Kubernetes' order: request, usages, signerName, expirationSeconds. */
export function specErrors({ spec }: CertificateSigningRequest, allow?: SpecLeniency): FieldError[] {
  const { request = '', usages = [], signerName = '', expirationSeconds } = spec ?? {}
  const errors: FieldError[] = []
  const complaint = requestComplaint(request)
  if (complaint) errors.push(fieldError.invalid('spec.request', request, complaint))
  errors.push(...usageErrors(usages, allow))
  if (signerName === signerNames.legacyUnknown && !allow?.legacySigner) {
    const text = 'the legacy signerName is not allowed via this API version'
    errors.push(fieldError.invalid('spec.signerName', signerName, text))
  } else errors.push(...signerNameErrors('spec.signerName', signerName))
  if (expirationSeconds !== undefined && expirationSeconds < 600) {
    const text = 'may not specify a duration less than 600 seconds (10 minutes)'
    errors.push(fieldError.invalid('spec.expirationSeconds', expirationSeconds, text))
  }
  return errors
}
