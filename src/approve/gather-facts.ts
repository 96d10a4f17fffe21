/** The facts about one request, read from the API once: for commands that judge without a running controller. */
import { type KubeClient, listAll } from '../kube/client.ts'
import { type CertificateSigningRequest, type KubeNode, resources } from '../kube/types.ts'
import { reviewAccess } from './access-review.ts'
import { AddressIndex } from './address-index.ts'
import type { Facts } from './facts.ts'
import { judge } from './judge.ts'
import type { ApprovalPolicy } from './policy.ts'
import { readRequest } from './read-request.ts'
import { subjectNode } from './subject-node.ts'

export interface GatherOptions {
  client: KubeClient
  csr: CertificateSigningRequest
  policy?: ApprovalPolicy | undefined
  /** Milliseconds since the epoch. */
  now: number
  signal: AbortSignal
}

/** Needs the rights to list nodes and, for client requests, to create subjectaccessreviews. Rejects as the client does. */
export async function gatherFacts({ client, csr, policy, now, signal }: GatherOptions): Promise<Facts> {
  const { items: nodes } = await listAll<KubeNode>(client, resources.nodes, {}, signal)
  const claims = new AddressIndex()
  for (const node of nodes) claims.set(node)
  const reading = readRequest(csr)
  const nodeName = reading.request && subjectNode(reading.request)
  const node = nodes.find(({ metadata }) => metadata.name === nodeName)
  const facts: Facts = { csr, reading, now, node, claims, policy }
  if (nodeName === undefined || !wantsAccessReview(facts)) return facts
  return { ...facts, access: await reviewAccess(client, csr, nodeName, signal) }
}

/** Whether nothing else stands against the request: a flood of bad ones costs no review. */
export function wantsAccessReview(facts: Facts): boolean {
  return judge(facts).reasons[0]?.code === 'AccessNotReviewed'
}
