import type { IssuedFacts } from './issued-facts.ts'
import type { RequestFacts } from './request-facts.ts'

export interface IssuedCertificate {
  node: string
  certificate: IssuedFacts
  request: RequestFacts
}

/**
 * The certificate of each node that starts last, of this kind. It is the latest that the cluster knows of: requests are
 * deleted an hour after they were answered, so the node may hold a newer one.
 */
export function latestIssued(
  requests: readonly RequestFacts[],
  kind: 'client' | 'serving',
): IssuedCertificate[] {
  const latest = new Map<string, IssuedCertificate>()
  for (const request of requests) {
    const { node, issued } = request
    if (request.kind !== kind || node === undefined || !issued?.ok) continue
    const known = latest.get(node)
    if (known && known.certificate.notBefore > issued.value.notBefore) continue
    latest.set(node, { node, certificate: issued.value, request })
  }
  return [...latest.values()]
}
