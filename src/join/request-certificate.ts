import { RollcallError } from '../errors.ts'
import { generateSigner, type KeyAlgorithm, keyMatches } from '../keys/private-key.ts'
import type { Secret } from '../keys/secret.ts'
import type { Signer } from '../keys/signer.ts'
import type { KubeClient } from '../kube/client.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import type { Clock, Random } from '../ports.ts'
import { type Certificate, parseCertificatesPem } from '../x509/certificate.ts'
import { encodePem } from '../x509/pem.ts'
import { encodeSigningRequest } from './signing-request.ts'
import type { CertificateTemplate } from './template.ts'
import { waitForCertificate } from './wait-for-certificate.ts'

export interface CertificateRequestOptions {
  template: CertificateTemplate
  keyAlgorithm: KeyAlgorithm
  /** Makes the attempt's key somewhere else than in memory; absent: in memory. */
  newKey?(): Promise<AttemptKey>
  /** Authenticates with whatever credential the caller holds: bootstrap token, node certificate … */
  client: KubeClient
  clock: Clock
  random: Random
  /** Ends the attempt; it then rejects with CSR_TIMEOUT. */
  signal?: AbortSignal
  /** Milliseconds until the attempt is given up; absent: 15 minutes (K-36). */
  patience?: number
  /** Seconds after which the server is asked to end a watch; absent: 300–600 at random. */
  watchSeconds?: number
}

/** A key that was made for one attempt. */
export interface AttemptKey {
  signer: Signer
  /** What is kept beside the certificate: the key in PEM, or what says where it is (keys/token-key.ts). */
  stored: Secret
}

export interface IssuedCertificate {
  /** PEM, leaf first. */
  chain: string
  /** The key that was made for this attempt. */
  key: AttemptKey
  /** Name of the CertificateSigningRequest. */
  requestName: string
}

/** K-36: how long one attempt waits, milliseconds. */
const issuancePatience = 15 * 60_000

/**
 * One attempt to get a certificate: the only place in Rollcall that asks for one, for the first client certificate, its
 * renewal, its recovery, and for serving certificates. Makes a new key, creates a CertificateSigningRequest
 * `csr-<random>` (K-36) and waits until it is approved and issued (K-40).
 *
 * The key is new for every attempt, but where an attested machine got its credential for one key alone. So when the answer
 * to the creation is lost and the request was made nevertheless, whatever is issued for it belongs to a key that no longer
 * exists, and nobody can use it.
 *
 * Rejects with CSR_DENIED, CSR_FAILED, CSR_TIMEOUT, CSR_GONE, with KEY_MISMATCH or X509_MALFORMED when what was issued
 * cannot be used, and with what the client throws (API_UNREACHABLE, ApiStatusError) when the request was not accepted.
 */
export async function requestCertificate(options: CertificateRequestOptions): Promise<IssuedCertificate> {
  const { template, client, signal } = options
  const key = await (options.newKey?.() ?? keyInMemory(options))
  const { signer } = key
  const request = encodePem('CERTIFICATE REQUEST', await encodeSigningRequest(template, signer))
  const created = await client.create<CertificateSigningRequest>(
    resources.certificateSigningRequests,
    {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: '', generateName: 'csr-' },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName: template.signerName,
        usages: [...template.usages],
      },
    },
    signal ? { signal } : {},
  )
  const requestName = created.metadata.name
  const issued = await waitForCertificate({
    ...options,
    created,
    patience: options.patience ?? issuancePatience,
  })
  const chain = Buffer.from(issued, 'base64').toString()
  requireUsable(chain, signer, requestName)
  return { chain, key, requestName }
}

/** A new key that is kept in a file. */
export async function keyInMemory({
  keyAlgorithm,
  random,
}: Pick<CertificateRequestOptions, 'keyAlgorithm' | 'random'>): Promise<AttemptKey> {
  const signer = generateSigner(keyAlgorithm, random)
  return { signer, stored: signer.exportPem() }
}

/** What was issued must parse and carry the key that the request was made with. */
function requireUsable(chain: string, signer: Signer, requestName: string): void {
  const leaf = parseIssued(chain, requestName)[0]
  if (!leaf) {
    throw new RollcallError('X509_MALFORMED', `${nameIt(requestName)} holds no certificate.`, { requestName })
  }
  if (!keyMatches(signer, leaf)) {
    throw new RollcallError(
      'KEY_MISMATCH',
      `${nameIt(requestName)} was issued for another key than the one in the request; look at the signer.`,
      { requestName },
    )
  }
}

function parseIssued(chain: string, requestName: string): Certificate[] {
  try {
    return parseCertificatesPem(chain)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new RollcallError(
      'X509_MALFORMED',
      `${nameIt(requestName)} cannot be parsed: ${why}`,
      { requestName },
      {
        cause,
      },
    )
  }
}

function nameIt(requestName: string): string {
  return `The certificate of CertificateSigningRequest "${requestName}"`
}
