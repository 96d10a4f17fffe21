/** The fixture of the approval rules: node worker-1, its kubelet's serving request, a bootstrapping client request. */
import { AddressIndex } from '../approve/address-index.ts'
import type { ReadFacts } from '../approve/facts.ts'
import { subjectNode } from '../approve/subject-node.ts'
import type { CertificateSigningRequest, KubeNode, NodeAddress } from '../kube/types.ts'
import { signerNames } from '../kube/types.ts'
import { parseIp } from '../x509/ip.ts'
import { nameOf } from '../x509/name.ts'
import type { CertificateRequest } from '../x509/request.ts'
import type { SubjectAltName } from '../x509/san.ts'

export const createdAt = Date.parse('2026-03-01T12:00:00Z')

export function nodeNamed(name: string, addresses: Record<string, string>): KubeNode {
  const list = Object.entries(addresses).map(([address, type]): NodeAddress => ({ type, address }))
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { addresses: list } }
}

export const worker1 = nodeNamed('worker-1', {
  'worker-1': 'Hostname',
  'worker-1.cluster.internal': 'InternalDNS',
  'w1.example.net': 'ExternalDNS',
  '10.0.0.11': 'InternalIP',
  'fd00::11': 'InternalIP',
  '203.0.113.11': 'ExternalIP',
})
export const worker2 = nodeNamed('worker-2', {
  'worker-2': 'Hostname',
  '10.0.0.12': 'InternalIP',
  'fd00::12': 'InternalIP',
})

/** The same Node, created then (milliseconds since the epoch). */
export function createdNode(node: KubeNode, created: number): KubeNode {
  return { ...node, metadata: { ...node.metadata, creationTimestamp: new Date(created).toISOString() } }
}

/** The address in bytes; fails on what is none. */
export function ip(text: string): Uint8Array {
  const bytes = parseIp(text)
  if (!bytes) throw new RangeError(`${text} is no address`)
  return bytes
}

export function sans(
  dnsNames: string[],
  addresses: string[],
  more: Partial<SubjectAltName> = {},
): SubjectAltName {
  return { dnsNames, ipAddresses: addresses.map(ip), emailAddresses: [], uris: [], others: [], ...more }
}

/** The Node also lists these. */
export const withAddresses = (addresses: Record<string, NodeAddress['type']>) => ({
  nodes: [nodeNamed('worker-1', { '10.0.0.11': 'InternalIP', ...addresses }), worker2],
})

/** The request asks for these names and addresses. */
export const asking = (dnsNames: string[], addresses: string[] = ['10.0.0.11']) => ({
  asked: { subjectAltName: sans(dnsNames, addresses) },
})

/** The request has this subject. */
export const withSubject = (commonName: string, organizations = ['system:nodes']) => ({
  asked: { subject: nameOf({ commonName, organizations }) },
})

export const extension = (id: string) => ({ id, critical: false, value: new Uint8Array() })

const san = { id: '2.5.29.17', critical: false, value: new Uint8Array() }
const request: CertificateRequest = {
  raw: new Uint8Array(),
  tbs: new Uint8Array(),
  subject: nameOf({ commonName: 'system:node:worker-1', organizations: ['system:nodes'] }),
  spki: new Uint8Array(),
  keyType: 'P-256',
  signatureAlgorithm: 'ecdsa-with-SHA256',
  signature: new Uint8Array(),
  extensions: [san],
  subjectAltName: sans(
    ['worker-1', 'worker-1.cluster.internal', 'w1.example.net'],
    ['10.0.0.11', 'fd00::11', '203.0.113.11'],
  ),
  oddities: [],
}

const csr = (
  signerName: string,
  usages: string[],
  username: string,
  groups: string[],
): CertificateSigningRequest => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name: 'csr-abcde', creationTimestamp: '2026-03-01T12:00:00Z' },
  spec: { request: '', signerName, usages, username, groups },
})

export interface FactChanges extends Partial<ReadFacts> {
  spec?: Partial<CertificateSigningRequest['spec']>
  asked?: Partial<CertificateRequest>
  nodes?: KubeNode[]
}

/** Facts of worker-1's kubelet asking for its serving certificate, which would be approved, with changes. */
export function servingFacts(changes: FactChanges = {}): ReadFacts {
  const usages = ['digital signature', 'server auth']
  const groups = ['system:nodes', 'system:authenticated']
  return change(csr(signerNames.kubeletServing, usages, 'system:node:worker-1', groups), request, changes)
}

/** Facts of a kubelet that bootstraps with a token as worker-1, whose access was allowed, with changes. */
export function clientFacts(changes: FactChanges = {}): ReadFacts {
  const usages = ['digital signature', 'client auth']
  const groups = [
    'system:bootstrappers',
    'system:bootstrappers:kubeadm:default-node-token',
    'system:authenticated',
  ]
  const client = { ...request, extensions: [], subjectAltName: sans([], []) }
  const base = csr(signerNames.kubeletClient, usages, 'system:bootstrap:abcdef', groups)
  return change(base, client, { access: { tried: ['nodeclient'], allowed: 'nodeclient' }, ...changes })
}

function change(base: CertificateSigningRequest, like: CertificateRequest, changes: FactChanges): ReadFacts {
  const { spec, asked, nodes = [worker1, worker2], ...facts } = changes
  const claims = new AddressIndex()
  for (const node of nodes) claims.set(node)
  const read = { ...like, ...asked }
  return {
    csr: { ...base, spec: { ...base.spec, ...spec } },
    request: read,
    reading: { request: read },
    now: createdAt + 1000,
    node: nodes.find(node => node.metadata.name === (subjectNode(read) ?? 'worker-1')),
    claims,
    policy: { evidence: 'NodeStatus', allowedRanges: [], serviceRanges: ['10.96.0.0/12'] },
    ...facts,
  }
}
