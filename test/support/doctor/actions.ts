/** What people, nodes and other programs do to a cluster, over real connections. */
import { readFileSync } from 'node:fs'
import { systemRandom } from '../../../src/host/random.ts'
import { generateSigner } from '../../../src/keys/private-key.ts'
import { createClient, isStatus, type KubeClient } from '../../../src/kube/client.ts'
import { impersonating } from '../../../src/kube/impersonating-transport.ts'
import { formatMicroTime, formatTime } from '../../../src/kube/time-format.ts'
import {
  type CertificateSigningRequest,
  type KubeNode,
  type Lease,
  type NodeAddress,
  type ResourceRef,
  resources,
  signerNames,
} from '../../../src/kube/types.ts'
import { ip } from '../../../src/testing/judged-request.ts'
import { signedRequest } from '../../../src/testing/signed-request.ts'
import type { ExaminedUp } from './examined-up.ts'

const csrs = resources.certificateSigningRequests

/** Acting as this user, as `kubectl --as` does. */
export const as = ({ transport }: ExaminedUp, user: string, group: string): KubeClient =>
  createClient(impersonating(transport, user, group))
export const node = (up: ExaminedUp, name: string): KubeClient =>
  as(up, `system:node:${name}`, 'system:nodes')
export const bootstrapper = (up: ExaminedUp): KubeClient => up.bootstrapper

export interface Ask {
  by: KubeClient
  /** The node that the subject names. */
  of: string
  /** With names or addresses it is a serving request, without a client request. */
  dns?: string[]
  ips?: string[]
  organizations?: string[]
  usages?: string[]
  expirationSeconds?: number
  signerName?: string
}

/** Makes a request with a new key, and gives its name. */
export async function ask(what: Ask): Promise<string> {
  const { by, of, dns = [], ips = [], organizations = ['system:nodes'] } = what
  const serving = dns.length + ips.length > 0
  const signer = generateSigner('ECDSA-P256', systemRandom)
  const subjectAltName = { dnsNames: dns, ipAddresses: ips.map(ip) }
  const pem = await signedRequest({ signer, commonName: `system:node:${of}`, organizations, subjectAltName })
  const {
    usages = ['digital signature', serving ? 'server auth' : 'client auth'],
    signerName = serving ? signerNames.kubeletServing : signerNames.kubeletClient,
    expirationSeconds,
  } = what
  const { metadata } = await by.create<CertificateSigningRequest>(csrs, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: `asked-${Buffer.from(signer.publicKey.slice(-8)).toString('hex')}` },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName,
      usages,
      ...(expirationSeconds !== undefined && { expirationSeconds }),
    },
  })
  return metadata.name
}

/** Adds a condition as `kubectl certificate approve` does. */
export async function decide(
  { admin }: ExaminedUp,
  name: string,
  type: 'Approved' | 'Denied' | 'Failed',
  reason: string,
): Promise<void> {
  const csr = await admin.get<CertificateSigningRequest>(csrs, { name })
  const conditions = [...(csr.status?.conditions ?? []), { type, status: 'True' as const, reason }]
  const subresource = type === 'Failed' ? 'status' : 'approval'
  await admin.update(csrs, { ...csr, status: { ...csr.status, conditions } }, { subresource })
}

/** Writes a certificate as a signer does. */
export async function sign({ admin }: ExaminedUp, name: string, pem: string): Promise<void> {
  const csr = await admin.get<CertificateSigningRequest>(csrs, { name })
  const status = { ...csr.status, certificate: Buffer.from(pem).toString('base64') }
  await admin.update(csrs, { ...csr, status }, { subresource: 'status' })
}

/** Does it so long ago, by the clock of the control plane. */
export async function ago<T>(up: ExaminedUp, milliseconds: number, work: () => Promise<T>): Promise<T> {
  up.setAhead(-milliseconds)
  try {
    return await work()
  } finally {
    up.setAhead(0)
  }
}

export interface Guest {
  address?: string
  port?: number
  ready?: boolean
  nodeInfo?: Record<string, string>
  addresses?: NodeAddress[]
}

const noNodeInfo = Object.fromEntries(
  [
    'machineID',
    'systemUUID',
    'bootID',
    'kernelVersion',
    'osImage',
    'containerRuntimeVersion',
    'kubeletVersion',
    'kubeProxyVersion',
    'operatingSystem',
    'architecture',
  ].map(field => [field, '']),
)

/** A machine beside those of the fleet: its Node as a kubelet would register it, and its Lease. */
export async function register(up: ExaminedUp, name: string, guest: Guest = {}): Promise<void> {
  const { admin } = up
  const { address = '10.0.0.11', port, ready, nodeInfo } = guest
  const created = await admin
    .create<KubeNode>(resources.nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name } })
    .catch(error => {
      if (!isStatus(error, 'AlreadyExists')) throw error
      return admin.get<KubeNode>(resources.nodes, { name })
    })
  const addresses = guest.addresses ?? [
    { type: 'InternalIP', address },
    { type: 'Hostname', address: name },
  ]
  const status = {
    ...created.status,
    addresses,
    ...(port !== undefined && { daemonEndpoints: { kubeletEndpoint: { Port: port } } }),
    ...(ready && {
      conditions: [
        {
          type: 'Ready',
          status: 'True' as const,
          reason: 'KubeletReady',
          message: '',
          lastTransitionTime: formatTime(up.now()),
        },
      ],
    }),
    ...(nodeInfo && { nodeInfo: { ...noNodeInfo, ...nodeInfo } }),
  }
  await admin.update<KubeNode>(resources.nodes, { ...created, status }, { subresource: 'status' })
  await beat(up, name)
}

/** Its kubelet renews its Lease, by a clock that is this many milliseconds ahead. */
export async function beat({ admin, now }: ExaminedUp, name: string, ahead = 0): Promise<void> {
  const metadata = { name, namespace: 'kube-node-lease' }
  const spec = {
    holderIdentity: name,
    leaseDurationSeconds: 40,
    renewTime: formatMicroTime(now() + ahead),
  }
  await put<Lease>(admin, resources.leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata,
    spec,
  })
}

/** Creates it, or writes it over what is there. */
export async function put<T extends { metadata: { name: string; namespace?: string } }>(
  admin: KubeClient,
  ref: ResourceRef,
  object: T & Parameters<KubeClient['create']>[1],
): Promise<void> {
  const { name, namespace } = object.metadata
  const target = { name, ...(namespace !== undefined && { namespace }) }
  try {
    await admin.create(ref, object)
  } catch (error) {
    if (!isStatus(error, 'AlreadyExists')) throw error
    const { metadata } = await admin.get(ref, target)
    await admin.update(ref, { ...object, metadata: { ...metadata, ...object.metadata } })
  }
}

export const read = (up: ExaminedUp, ...names: string[]): string => readFileSync(up.path(...names), 'utf8')
