import type { ObjectReader } from '../../apiserver/reader.ts'
import { type CertificateSigningRequest, resources } from '../../kube/types.ts'

/** Age of the oldest request that is approved and not signed, or undecided, in milliseconds; 0: there is none. */
export function certificateRequests(reader: ObjectReader, now: number): number {
  const pending = reader
    .list<CertificateSigningRequest>(resources.certificateSigningRequests)
    .filter(({ status }) => {
      const refused = status?.conditions?.some(({ type }) => type === 'Denied' || type === 'Failed')
      return !refused && status?.certificate === undefined
    })
  const ages = pending.map(({ metadata }) => now - (Date.parse(metadata.creationTimestamp ?? '') || now))
  return Math.max(0, ...ages)
}
