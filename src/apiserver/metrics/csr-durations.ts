/** Whether signers honour the life that requesters ask for. */
import { RollcallError } from '../../errors.ts'
import { type CertificateSigningRequest, resources } from '../../kube/types.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import type { Store, StoreEvent } from '../storage/store.ts'
import { prefixOf, sharedObject } from '../stored-object.ts'

export interface DurationVerdict {
  /** The signer's name where it is one of Kubernetes' own, else `other`. Only who may sign for a name can have it counted. */
  signerName: string
  honored: boolean
}

/** Calls `count` for each first certificate of a request that asked for a life. The function returned ends it. */
export function watchCsrDurations(store: Store, count: (verdict: DurationVerdict) => void): () => void {
  return store.watch(prefixOf(resources.certificateSigningRequests), store.revision, event => {
    const verdict = judgeDuration(event)
    if (verdict) count(verdict)
  })
}

/** counted on the first certificate write with expirationSeconds set. */
function judgeDuration({ current, previous }: StoreEvent): DurationVerdict | undefined {
  if (!current || !previous) return undefined
  const after = sharedObject<CertificateSigningRequest>(current)
  const { expirationSeconds, signerName } = after.spec
  const pem = after.status?.certificate
  if (!expirationSeconds || !pem) return undefined
  if (sharedObject<CertificateSigningRequest>(previous).status?.certificate) return undefined
  const lifetime = lifetimeSeconds(pem)
  if (lifetime === undefined) return undefined
  return {
    signerName: signerName.startsWith('kubernetes.io/') ? signerName : 'other',
    // five minutes of backdating and a twentieth of jitter are no breach.
    honored: Math.abs(expirationSeconds - lifetime) < 5 * 60 + expirationSeconds / 20,
  }
}

/** Of the first certificate; undefined when it cannot be read. */
function lifetimeSeconds(base64: string): number | undefined {
  try {
    const [leaf] = parseCertificatesPem(Buffer.from(base64, 'base64').toString())
    return leaf && (leaf.notAfter - leaf.notBefore) / 1000
  } catch (error) {
    if (error instanceof RollcallError) return undefined
    throw error
  }
}
