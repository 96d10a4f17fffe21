/** The collections, cut down to what checks look at: 5,000 Nodes are 40 MB, and annotations may hold anything. */
import { type KubeClient, listAll } from '../../kube/client.ts'
import {
  type CertificateSigningRequest,
  type KubeEvent,
  type KubeNode,
  type Lease,
  type ObjectMeta,
  resources,
} from '../../kube/types.ts'
import { conditionTypes } from '../../survey/node-conditions/certificate-conditions.ts'
import { leaseFacts } from './lease-facts.ts'

export async function listRequests(client: KubeClient): Promise<CertificateSigningRequest[]> {
  const { items } = await listAll<CertificateSigningRequest>(
    client,
    resources.certificateSigningRequests,
    {},
    undefined,
    ({ metadata, spec, status }) => {
      const { request, signerName, usages, expirationSeconds, username, groups } = spec
      return {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: plainMeta(metadata),
        spec: {
          request,
          signerName,
          usages,
          ...(expirationSeconds !== undefined && { expirationSeconds }),
          ...(username !== undefined && { username }),
          ...(groups && { groups }),
        },
        status: {
          ...(status?.conditions && { conditions: status.conditions }),
          ...(status?.certificate && { certificate: status.certificate }),
        },
      }
    },
  )
  return items
}

const keptConditions: ReadonlySet<string> = new Set(['Ready', ...Object.values(conditionTypes)])

export async function listNodes(client: KubeClient): Promise<KubeNode[]> {
  const { items } = await listAll<KubeNode>(
    client,
    resources.nodes,
    {},
    undefined,
    ({ metadata, status }) => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: plainMeta(metadata),
      status: {
        ...(status?.addresses && { addresses: status.addresses }),
        conditions: (status?.conditions ?? []).filter(({ type }) => keptConditions.has(type)),
        ...(status?.daemonEndpoints && { daemonEndpoints: status.daemonEndpoints }),
        nodeInfo: nodeInfo(status?.nodeInfo),
      },
    }),
  )
  return items
}

function nodeInfo(info: Record<string, string> = {}): Record<string, string> {
  const kept = ['machineID', 'systemUUID', 'kubeletVersion']
  return Object.fromEntries(Object.entries(info).filter(([key]) => kept.includes(key)))
}

export async function listLeases(client: KubeClient, namespace: string): Promise<Lease[]> {
  const { items } = await listAll<Lease>(client, resources.leases, { namespace }, undefined, leaseFacts)
  return items
}

/** Warnings about what certificates are about. */
export async function listEvents(client: KubeClient): Promise<KubeEvent[]> {
  const about = ['Node', 'CertificateSigningRequest']
  const { items } = await listAll<KubeEvent>(client, resources.events, { fieldSelector: 'type=Warning' })
  return items
    .filter(event => about.includes(event.involvedObject.kind ?? ''))
    .map(({ metadata, involvedObject, reason, message, count, lastTimestamp }) => ({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: plainMeta(metadata),
      involvedObject,
      type: 'Warning' as const,
      ...(reason !== undefined && { reason }),
      ...(message !== undefined && { message }),
      ...(count !== undefined && { count }),
      ...(lastTimestamp !== undefined && { lastTimestamp }),
    }))
}

function plainMeta({ name, namespace, uid, creationTimestamp }: ObjectMeta): ObjectMeta {
  return {
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(creationTimestamp && { creationTimestamp }),
  }
}
