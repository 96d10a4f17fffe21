/** Kubernetes' SubjectAccessReview for kubelet client requests: C-11, C-12. */
import type { KubeClient } from '../kube/client.ts'
import { type CertificateSigningRequest, resources, type SubjectAccessReview } from '../kube/types.ts'
import type { AccessReview, ClientSubresource } from './facts.ts'
import { nodeUserPrefix } from './requester.ts'

/** Asks for `selfnodeclient` where the node asks for itself, then for `nodeclient`. Rejects as the client does. */
export async function reviewAccess(
  client: KubeClient,
  csr: CertificateSigningRequest,
  nodeName: string,
  signal: AbortSignal,
): Promise<AccessReview> {
  const self = csr.spec.username === nodeUserPrefix + nodeName
  const tried: ClientSubresource[] = []
  for (const subresource of self ? (['selfnodeclient', 'nodeclient'] as const) : (['nodeclient'] as const)) {
    tried.push(subresource)
    const review = accessReviewOf(csr, subresource)
    const { status } = await client.create(resources.subjectAccessReviews, review, { signal })
    if (status?.allowed) return { tried, allowed: subresource }
  }
  return { tried }
}

/** No name, no namespace, version `*`: what role bindings for bootstrapping are written for. */
function accessReviewOf(csr: CertificateSigningRequest, subresource: ClientSubresource): SubjectAccessReview {
  const { username, uid, groups, extra } = csr.spec
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    // Reviews are not stored and have no name.
    metadata: { name: '' },
    spec: {
      user: username ?? '',
      groups: groups ?? [],
      ...(uid ? { uid } : {}),
      ...(extra ? { extra } : {}),
      resourceAttributes: {
        verb: 'create',
        group: 'certificates.k8s.io',
        version: '*',
        resource: 'certificatesigningrequests',
        subresource,
      },
    },
  }
}
