/** What the cache keeps of a request that nobody here has to answer any more. */
import { kindOf } from '../approve/rules/our-signer.ts'
import { isUndecided } from '../approve/rules/undecided.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import { isSignable } from '../sign/signable.ts'
import { keepSubject } from '../survey/metrics-requests.ts'

/** Whether the request is still to be judged or signed here; for that all of it is needed. */
function isOpen(csr: CertificateSigningRequest): boolean {
  return isSignable(csr) || (kindOf(csr) !== undefined && isUndecided(csr))
}

/** Stands for a certificate that there is: what it says was taken in when it came. */
const certificate = '-'

/** Who asked, when, and what it came to: a tenth of the whole. A request that is open is kept as it is. */
export function condensed(csr: CertificateSigningRequest): CertificateSigningRequest {
  if (isOpen(csr)) return csr
  const { name, uid, resourceVersion, creationTimestamp } = csr.metadata
  const { signerName, username, groups } = csr.spec
  const conditions = csr.status?.conditions?.map(({ type, status, reason, lastUpdateTime }) => ({
    type,
    status,
    ...(reason !== undefined && { reason }),
    ...(lastUpdateTime !== undefined && { lastUpdateTime }),
  }))
  const kept: CertificateSigningRequest = {
    apiVersion: csr.apiVersion,
    kind: csr.kind,
    metadata: {
      name,
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
      ...(creationTimestamp !== undefined && { creationTimestamp }),
    },
    spec: {
      signerName,
      request: '',
      usages: [],
      ...(username !== undefined && { username }),
      ...(groups && { groups }),
    },
    status: { ...(conditions && { conditions }), ...(csr.status?.certificate && { certificate }) },
  }
  keepSubject(csr, kept)
  return kept
}
