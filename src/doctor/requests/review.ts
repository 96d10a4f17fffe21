import { evidenceFor } from '../../approve/node-status-evidence.ts'
import { readRequest } from '../../approve/read-request.ts'
import { requestedSans } from '../../approve/requested-sans.ts'
import { subjectNode } from '../../approve/subject-node.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type CertificateSigningRequest, type KubeNode, signerNames } from '../../kube/types.ts'
import { type Claim, identityClaim } from '../../survey/operator-approval.ts'
import { namesIn } from '../../survey/requested-names.ts'
import type { CertificateRequest } from '../../x509/request.ts'
import { findNode } from './find-request.ts'

/** A request beside the Node it is for: what an operator looks at before deciding. */
export interface Review {
  csr: CertificateSigningRequest
  /** Absent when it cannot be read. */
  request?: CertificateRequest
  /** What keeps it from being read or verified. */
  problem?: string
  nodeName?: string
  /** Absent: there is no such Node. */
  node?: KubeNode
  claims: Claim[]
}

export async function reviewRequest(client: KubeClient, csr: CertificateSigningRequest): Promise<Review> {
  const { request } = readRequest(csr)
  const nodeName = request && subjectNode(request)
  return reviewBeside(csr, nodeName ? await findNode(client, nodeName) : undefined)
}

/** `node`: the Node that the request's subject names. */
export function reviewBeside(csr: CertificateSigningRequest, node: KubeNode | undefined): Review {
  const { request, problem } = readRequest(csr)
  const nodeName = request && subjectNode(request)
  return {
    csr,
    ...(request && { request }),
    ...(problem && { problem: problem.message }),
    ...(nodeName && { nodeName }),
    ...(node && { node }),
    claims: request ? claimsOf(csr, request, node) : [],
  }
}

/** Only who asks as the node itself gets the Node's addresses counted: otherwise anybody could ask for them. */
function claimsOf(
  csr: CertificateSigningRequest,
  request: CertificateRequest,
  node: KubeNode | undefined,
): Claim[] {
  const own = node && csr.spec.username === `system:node:${node.metadata.name}`
  const comparable = csr.spec.signerName === signerNames.kubeletServing
  const addresses = requestedSans(request).map((san): Claim => {
    const evidence = own && comparable ? evidenceFor(san, node) : undefined
    return { shown: san.shown, wildcard: san.canonical.startsWith('*'), ...(evidence && { evidence }) }
  })
  const { emailAddresses, uris, others } = request.subjectAltName
  const unprovable = namesIn({ dnsNames: [], ipAddresses: [], emailAddresses, uris, others })
  const identity = identityClaim(csr, node)
  return [
    ...addresses,
    ...unprovable.map(shown => ({ shown, wildcard: false })),
    ...(identity ? [identity] : []),
  ]
}
