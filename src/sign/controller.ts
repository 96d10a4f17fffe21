/** Signs what is approved: cached request in, certificate or Failed condition out to /status. */
import { isStatus, type KubeClient } from '../kube/client.ts'
import { formatTime } from '../kube/time-format.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import { startWorkQueue } from '../kube/work-queue.ts'
import type { Clock, Log, Random } from '../ports.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { formatName } from '../x509/name.ts'
import { randomSerialNumber } from '../x509/serial-number.ts'
import type { Authority, AuthoritySource } from './authority.ts'
import { keyIsAway } from './authority-keeper.ts'
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
  authorities: Readonly<Record<string, AuthoritySource>>
  /** Seconds that no certificate lives longer than. */
  certificateLifetimeSeconds: number
  /** Seconds that this certificate may live at most, where a policy says less. What it rejects is signed later. */
  longestLifetime?(csr: CertificateSigningRequest): Promise<number | undefined>
  ledger: Ledger
  /** How many requests are signed at a time; absent: 5. */
  workers?: number | undefined
  /** Told after the certificate is in status.certificate. */
  onIssued?(csr: CertificateSigningRequest, leaf: LedgerEntry): void
  onFailed?(csr: CertificateSigningRequest, message: string): void
  /** An approved request waits until the CA can sign; the message says what it wants. */
  onWaiting?(csr: CertificateSigningRequest, message: string): void
  /** The certificate ends with its CA, sooner than the request and the signer's cap would have it. */
  onCapped?(csr: CertificateSigningRequest, leaf: LedgerEntry): void
}

export interface SigningController {
  /** To be called for every change of a CertificateSigningRequest, deletions too. */
  csrChanged(csr: CertificateSigningRequest): void
  stop(): Promise<void>
}

/** C-2: five workers a signer in Kubernetes; ours share them. */
const defaultWorkers = 5

type WriteResult = 'written' | 'conflict' | 'gone'
/** Milliseconds. The event of the conflicting write comes by itself; this is for the case that it already came. */
const retryAfter = { conflict: 200, gone: undefined, keyAway: 10_000 } as const

export function startSigningController(options: SigningOptions): SigningController {
  const { client, clock, random, log, cached, authorities, ledger, workers = defaultWorkers } = options
  /** The version each request was written from, until the cache shows the result: not to sign twice. */
  const written = new Map<string, string | undefined>()
  /** Requests that wait for another CA, or for its key; how often they failed until then does not count any more. */
  const parked = new Set<string>()
  const queue = startWorkQueue({ name: 'signing', workers, clock, log, process: signIfDue })
  const unsubscribe = [...new Set(Object.values(authorities))].map(source =>
    source.onChange(() => {
      for (const name of parked) queue.add(name)
      parked.clear()
    }),
  )

  async function signIfDue(name: string): Promise<number | undefined> {
    const csr = cached(name)
    if (!csr || !isSignable(csr)) {
      written.delete(name)
      parked.delete(name)
      return undefined
    }
    const source = authorities[csr.spec.signerName]
    const version = csr.metadata.resourceVersion
    if (!source || (written.has(name) && written.get(name) === version)) return undefined
    const authority = source.current()
    if (!authority) return park(csr, source)
    try {
      return await sign(csr, authority)
    } catch (error) {
      if (!keyIsAway(error)) {
        parked.add(name)
        throw error
      }
      source.failed?.(authority, error)
      return park(csr, source)
    }
  }

  function park(csr: CertificateSigningRequest, source: AuthoritySource): number {
    const { name } = csr.metadata
    if (!parked.has(name)) options.onWaiting?.(csr, source.problem() ?? 'the key of the signing CA is away')
    parked.add(name)
    return retryAfter.keyAway
  }

  async function sign(csr: CertificateSigningRequest, authority: Authority): Promise<number | undefined> {
    const { name } = csr.metadata
    const longest = (await options.longestLifetime?.(csr)) ?? Number.POSITIVE_INFINITY
    const { prepared, refusal } = prepare({
      csr,
      request: readRequest(csr),
      authority,
      now: clock.now(),
      certificateLifetimeSeconds: Math.min(options.certificateLifetimeSeconds, longest),
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
    if (prepared.cappedByCa) options.onCapped?.(csr, entry)
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

  return {
    csrChanged: csr => queue.add(csr.metadata.name),
    async stop() {
      for (const end of unsubscribe) end()
      await queue.stop()
    },
  }
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
