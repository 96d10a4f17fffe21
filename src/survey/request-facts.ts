import { hasCode } from '../errors.ts'
import { csrCondition, isIssued } from '../kube/csr-conditions.ts'
import { heldCondition } from '../kube/held-conditions.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import { type Certificate, parseCertificatesPem, parseCertificatesPemUnkept } from '../x509/certificate.ts'
import { decodeOnePem, decodePem } from '../x509/pem.ts'
import {
  type CertificateRequest,
  parseCertificateRequest,
  parseCertificateRequestUnkept,
} from '../x509/request.ts'
import { nodeOfSubject } from './node-identity.ts'

/** What could be read, or the sentence why not. */
export type Reading<T> = { ok: true; value: T } | { ok: false; problem: string }

/** spec.request as it stands there; neither its signature nor its oddities are judged. */
export function readSpecRequest(csr: CertificateSigningRequest): Reading<CertificateRequest> {
  return reading(() => parseCertificateRequest(decodeOnePem(textOf(csr.spec.request), requestLabel)))
}

/** `readSpecRequest`, for who reads thousands and looks at each once: nothing of them is remembered. */
export function readSpecRequestUnkept(csr: CertificateSigningRequest): Reading<CertificateRequest> {
  return reading(() =>
    parseCertificateRequestUnkept(decodeOnePem(textOf(csr.spec.request), requestLabel, decodePem)),
  )
}

const requestLabel = 'CERTIFICATE REQUEST'

const textOf = (base64: string) => Buffer.from(base64, 'base64').toString('latin1')

/** The leaf of status.certificate; undefined when nothing was issued. */
export function readIssued(csr: CertificateSigningRequest): Reading<Certificate> | undefined {
  return readLeaf(csr, parseCertificatesPem)
}

/** `readIssued`, for who reads thousands and looks at each once: nothing of them is remembered. */
export function readIssuedUnkept(csr: CertificateSigningRequest): Reading<Certificate> | undefined {
  return readLeaf(csr, parseCertificatesPemUnkept)
}

export const readableLeaf = (issued: Reading<Certificate> | undefined): Certificate | undefined =>
  issued?.ok ? issued.value : undefined

function readLeaf({ status }: CertificateSigningRequest, parse: typeof parseCertificatesPem) {
  const { certificate } = status ?? {}
  if (!certificate) return undefined
  return reading(() => {
    const [leaf] = parse(textOf(certificate))
    if (!leaf) throw new NoCertificate()
    return leaf
  })
}

class NoCertificate extends Error {}

function reading<T>(read: () => T): Reading<T> {
  try {
    return { ok: true, value: read() }
  } catch (error) {
    if (error instanceof NoCertificate) return { ok: false, problem: 'it holds no PEM block CERTIFICATE' }
    if (hasCode(error, 'X509_MALFORMED') || hasCode(error, 'X509_UNSUPPORTED_KEY')) {
      return { ok: false, problem: error.message }
    }
    throw error
  }
}

/** The node that a request is for, by the subject it asks for. */
export function nodeOfRequest(csr: CertificateSigningRequest): string | undefined {
  const request = readSpecRequest(csr)
  return request.ok ? nodeOfSubject(request.value.subject) : undefined
}

/** what kubectl shows as CONDITION. Types count, their status does not. */
export function conditionText(csr: CertificateSigningRequest): string {
  const has = (type: string) => csrCondition(csr, type) !== undefined
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending'
  // What kubectl shows as Pending may wait for people.
  const held = decision === 'Pending' && has(heldCondition)
  if (held) return `Pending,Held:${csrCondition(csr, heldCondition)?.reason ?? ''}`
  return decision + (has('Failed') ? ',Failed' : '') + (isIssued(csr) ? ',Issued' : '')
}

/** Milliseconds since the epoch; an object that never met a server counts as created now. */
export function createdAt({ metadata }: CertificateSigningRequest, now: number): number {
  return metadata.creationTimestamp ? Date.parse(metadata.creationTimestamp) : now
}
