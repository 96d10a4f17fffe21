/** Signs what is approved: cached request in, certificate or Failed condition out to /status. */
import { isStatus, type KubeClient } from '../kube/client.ts'
import { formatTime } from '../kube/time-format.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import { startWorkQueue } from '../kube/work-queue.ts'
import type { Clock, Log, Random } from '../ports.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { formatName } from '../x509/name.ts'
import { randomSerialNumber } from '../x509/serial-number.ts'
import type { Authority } from './authority.ts'
import { type Issued, issue } from './issue.ts'
import { leafOf } from './leaf.ts'
import type { Ledger, LedgerEntry } from './ledger.ts'
import { prepare } from './prepare.ts'
import { readRequest } from './read-request.ts'
import { isSignable } from './signable.ts'

export interface SigningOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  /** The request as the cache has it, by name. */
  cached(name: string): CertificateSigningRequest | undefined
  /** By signerName; requests of other signers are not touched. */
  authorities: Readonly<Record<string, Authority>>
  /** Seconds that no certificate lives longer than. */
  certificateLifetimeSeconds: number
  ledger: Ledger
  /** Told after the certificate is in status.certificate. */
  onIssued?(csr: CertificateSigningRequest, leaf: LedgerEntry): void
  onFailed?(csr: CertificateSigningRequest, message: string): void
}

export interface SigningController {
  /** To be called for every change of a CertificateSigningRequest, deletions too. */
  csrChanged(csr: CertificateSigningRequest): void
  stop(): Promise<void>
}

/** C-2: five workers a signer in Kubernetes; ours share them. */
const workers = 5

type WriteResult = 'written' | 'conflict' | 'gone'
/** Milliseconds. The event of the conflicting write comes by itself; this is for the case that it already came. */
const retryAfter = { conflict: 200, gone: undefined } as const

export function startSigningController(options: SigningOptions): SigningController {
  const { client, clock, random, log, cached, authorities, ledger } = options
  /** The version each request was written from, until the cache shows the result: not to sign twice. */
  const written = new Map<string, string | undefined>()
  const queue = startWorkQueue({ name: 'signing', workers, clock, log, process: sign })

  async function sign(name: string): Promise<number | undefined> {
    const csr = cached(name)
    if (!csr || !isSignable(csr)) {
      written.delete(name)
      return undefined
    }
    const authority = authorities[csr.spec.signerName]
    const version = csr.metadata.resourceVersion
    if (!authority || (written.has(name) && written.get(name) === version)) return undefined
    const { prepared, refusal } = prepare({
      csr,
      request: readRequest(csr),
      authority,
      now: clock.now(),
      certificateLifetimeSeconds: options.certificateLifetimeSeconds,
      serialNumber: randomSerialNumber(random),
    })
    if (prepared === undefined) {
      const result = await write(csr, failed(csr, refusal, clock.now()))
      if (result !== 'written') return retryAfter[result]
      log.warn('marked an approved request as failed', {
        csr: name,
        signerName: csr.spec.signerName,
        refusal,
      })
      options.onFailed?.(csr, refusal)
      return undefined
    }
    const issued = await issue(prepared)
    const entry = ledgerEntry(csr, authority, issued)
    await ledger.record(entry)
    const result = await write(csr, withCertificate(csr, issued.pem))
    if (result !== 'written') return retryAfter[result]
    const { signerName, subject, serialNumber, notAfter } = entry
    log.info('issued a certificate', {
      csr: name,
      signerName,
      subject,
      serialNumber,
      notAfter: formatTime(notAfter),
    })
    options.onIssued?.(csr, entry)
    return undefined
  }

  /** C-38: with the cached copy's resourceVersion. */
  async function write(
    csr: CertificateSigningRequest,
    next: CertificateSigningRequest,
  ): Promise<WriteResult> {
    try {
      await client.update(resources.certificateSigningRequests, next, { subresource: 'status' })
    } catch (error) {
      if (isStatus(error, 'NotFound')) return 'gone'
      if (isStatus(error, 'Conflict')) return 'conflict'
      throw error
    }
    written.set(csr.metadata.name, csr.metadata.resourceVersion)
    return 'written'
  }

  return { csrChanged: csr => queue.add(csr.metadata.name), stop: () => queue.stop() }
}

function withCertificate(csr: CertificateSigningRequest, pem: string): CertificateSigningRequest {
  return { ...csr, status: { ...csr.status, certificate: Buffer.from(pem).toString('base64') } }
}

/** C-33. `now` in milliseconds since the epoch. */
function failed(csr: CertificateSigningRequest, message: string, now: number): CertificateSigningRequest {
  const condition = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message,
    lastUpdateTime: formatTime(now),
  } as const
  return { ...csr, status: { ...csr.status, conditions: [...(csr.status?.conditions ?? []), condition] } }
}

function ledgerEntry(csr: CertificateSigningRequest, authority: Authority, issued: Issued): LedgerEntry {
  const { certificate, pem } = issued
  const request = { name: csr.metadata.name, uid: csr.metadata.uid ?? '' }
  const { signerName } = csr.spec
  const issuerFingerprint = sha256Hex(authority.certificate.raw)
  return {
    ...leafOf(certificate, { issuerFingerprint, signerName, request }),
    fingerprint: sha256Hex(certificate.raw),
    request,
    subject: formatName(certificate.subject),
    certificate: pem,
  }
}
