import { gatherCsrFacts } from '../../doctor/requests/gather-facts.ts'
import { reviewRequest } from '../../doctor/requests/review.ts'
import type { CsrCondition, NodeAddress } from '../../kube/types.ts'
import { explainCsr } from '../../survey/explain-csr.ts'
import type { Explanation } from '../../survey/explanation.ts'
import type { Claim } from '../../survey/operator-approval.ts'
import { formatName } from '../../x509/name.ts'
import { mayDo, type Viewer } from '../access/viewer.ts'

/** All that is looked at before a request is decided. */
export interface ShownRequest {
  name: string
  uid: string
  signer: string
  requester: string
  groups: string[]
  usages: string[]
  /** Seconds. */
  duration?: number
  created?: string
  subject?: string
  key?: string
  /** What keeps it from being read or verified. */
  problem?: string
  oddities: string[]
  claims: Claim[]
  node?: { name: string; exists: boolean; addresses: NodeAddress[] }
  conditions: CsrCondition[]
  explanation: Explanation
  /** Whether the viewer may decide it: the API is asked again when he does. */
  mayDecide: boolean
}

export async function showRequest(viewer: Viewer, name: string, now: number): Promise<ShownRequest> {
  const facts = await gatherCsrFacts(viewer.client, name, now)
  const { csr } = facts
  const [review, mayDecide] = await Promise.all([
    reviewRequest(viewer.client, csr),
    mayDecideFor(viewer, csr.spec.signerName),
  ])
  const { spec, metadata, status } = csr
  const { request, problem, nodeName, node, claims } = review
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    signer: spec.signerName,
    requester: spec.username ?? '',
    groups: spec.groups ?? [],
    usages: spec.usages,
    ...(spec.expirationSeconds && { duration: spec.expirationSeconds }),
    ...(metadata.creationTimestamp && { created: metadata.creationTimestamp }),
    ...(request && { subject: formatName(request.subject), key: request.keyType }),
    ...(problem && { problem }),
    oddities: (request?.oddities ?? []).map(({ code, text }) => `${code}: ${text}`),
    claims,
    ...(nodeName && {
      node: { name: nodeName, exists: node !== undefined, addresses: node?.status?.addresses ?? [] },
    }),
    conditions: status?.conditions ?? [],
    explanation: explainCsr(facts),
    mayDecide,
  }
}

const group = 'certificates.k8s.io'

/** whoever decides needs the subresource and the signer. */
async function mayDecideFor(viewer: Viewer, signerName: string): Promise<boolean> {
  const rights = await Promise.all([
    mayDo(viewer, { group, resource: 'certificatesigningrequests', subresource: 'approval', verb: 'update' }),
    mayDo(viewer, { group, resource: 'signers', verb: 'approve', name: signerName }),
  ])
  return rights.every(Boolean)
}
