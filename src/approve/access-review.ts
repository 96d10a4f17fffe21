/** Kubernetes' SubjectAccessReview for kubelet client requests: C-11, C-12. */
import type { KubeClient } from '../kube/client.ts'
import { type CertificateSigningRequest, resources, type SubjectAccessReview } from '../kube/types.ts'
import type { AccessReview, ClientSubresource } from './facts.ts'
import { nodeUserPrefix } from './requester.ts'

/** Whether the API allows somebody what the spec of a SubjectAccessReview says. Rejects as a client does. */
export type AskAccess = (spec: SubjectAccessReview['spec'], signal: AbortSignal) => Promise<boolean>

/** By a SubjectAccessReview. */
export function askingFor(client: KubeClient): AskAccess {
  return async (spec, signal) => {
    const review: SubjectAccessReview = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      // Reviews are not stored and have no name.
      metadata: { name: '' },
      spec,
    }
    const { status } = await client.create(resources.subjectAccessReviews, review, { signal })
    return status?.allowed === true
  }
}

/** Asks for `selfnodeclient` where the node asks for itself, then for `nodeclient`. Rejects as `ask` does. */
export async function reviewAccess(
  ask: AskAccess,
  csr: CertificateSigningRequest,
  nodeName: string,
  signal: AbortSignal,
): Promise<AccessReview> {
  const self = csr.spec.username === nodeUserPrefix + nodeName
  const tried: ClientSubresource[] = []
  for (const subresource of self ? (['selfnodeclient', 'nodeclient'] as const) : (['nodeclient'] as const)) {
    tried.push(subresource)
    if (await ask(askedOf(csr, subresource), signal)) return { tried, allowed: subresource }
  }
  return { tried }
}

/** No name, no namespace, version `*`: what role bindings for bootstrapping are written for. */
function askedOf(
  csr: CertificateSigningRequest,
  subresource: ClientSubresource,
): SubjectAccessReview['spec'] {
  const { username, uid, groups, extra } = csr.spec
  return {
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
  }
}
