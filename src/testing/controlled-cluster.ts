/** The embedded API with Rollcall's controllers on it, and what a test asks of them. */
import assert from 'node:assert/strict'
import type { ApiOptions } from '../apiserver/create-api.ts'
import type { ApprovalPolicy } from '../approve/policy.ts'
import type { ControllersOptions, RunningControllers } from '../controller/options.ts'
import { attestationRules, controllerRules, managerRules, tokenRules } from '../controller/rbac.ts'
import { startControllers } from '../controller/start-controllers.ts'
import { generateSigner } from '../keys/private-key.ts'
import { isStatus, type KubeClient } from '../kube/client.ts'
import {
  type CertificateSigningRequest,
  type KubeEvent,
  type KubeNode,
  type NodeAddress,
  resources,
  signerNames,
} from '../kube/types.ts'
import { silentLog } from '../ports.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from './embedded-cluster.ts'
import { ip } from './judged-request.ts'
import { settle } from './manual-clock.ts'
import { recordingLog } from './recording-log.ts'
import { seededRandom } from './seeded-random.ts'
import { signedRequest } from './signed-request.ts'

const csrs = resources.certificateSigningRequests

export const nodeStatusPolicy: ApprovalPolicy = {
  evidence: 'NodeStatus',
  allowedRanges: [],
  serviceRanges: ['10.96.0.0/12'],
}

export interface Ask {
  by: KubeClient
  /** The node that the subject names. */
  node: string
  /** With names or addresses it is a serving request, without a client request. */
  dns?: string[]
  ips?: string[]
  signerName?: string
  organizations?: string[]
  expirationSeconds?: number
}

export interface ControlledCluster extends EmbeddedCluster {
  /** The controllers' own user, with the rights of controller/rbac.ts and no others. */
  controllerClient: KubeClient
  log: ReturnType<typeof recordingLog>
  /** Starts controllers; they are stopped with the cluster. */
  start(changes?: Partial<ControllersOptions>): Promise<RunningControllers>
  /** Makes a CertificateSigningRequest with a new key, and gives its name. */
  ask(what: Ask): Promise<string>
  /** Creates the Node where it is missing and sets its addresses. */
  register(name: string, addresses: [NodeAddress['type'], string][]): Promise<void>
  /** Sets labels of the Node, as an operator. */
  label(name: string, labels: Record<string, string>): Promise<void>
  read(name: string): Promise<CertificateSigningRequest>
  /** What the request came to, e.g. `Approved AutoApproved, issued`, or `pending`. */
  fate(name: string): Promise<string>
  /** Adds a condition as `kubectl certificate approve` does. */
  decide(name: string, type: 'Approved' | 'Denied', reason: string): Promise<void>
  /** `TYPE REASON` of the Events about the request. */
  eventsOf(name: string): Promise<string[]>
}

/** Lets everything happen that needs no time. */
export async function calm(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await settle()
}

/** The body of a test that has a cluster of its own; it must not leave a timer behind. */
export function onCluster(run: (cluster: ControlledCluster) => Promise<void>): () => Promise<void> {
  return async () => {
    const cluster = await startControlledCluster()
    try {
      await run(cluster)
    } finally {
      await cluster.close()
    }
    assert.equal(cluster.clock.pending(), 0, 'timers are left')
  }
}

export async function startControlledCluster(more: Partial<ApiOptions> = {}): Promise<ControlledCluster> {
  const log = recordingLog()
  const cluster = await startEmbeddedCluster(silentLog, more)
  const { admin, clock, ca } = cluster
  await cluster.grant('rollcall', [...controllerRules, ...managerRules])
  await cluster.grant('rollcall', [...tokenRules, ...attestationRules], 'kube-system')
  const controllerClient = await cluster.within('rollcall')
  const running: RunningControllers[] = []
  let made = 0
  const read = (name: string) => admin.get<CertificateSigningRequest>(csrs, { name })

  return {
    ...cluster,
    controllerClient,
    log,
    read,
    async start(changes = {}) {
      const signing = { certificate: ca.pem, signer: ca.signer }
      const { kubeletClient, kubeletServing, apiserverClient } = signerNames
      const controllers = startControllers({
        client: controllerClient,
        clock,
        random: seededRandom(3),
        log,
        signers: { [kubeletClient]: signing, [kubeletServing]: signing, [apiserverClient]: signing },
        certificateLifetimeSeconds: 86_400,
        rootCertificates: ca.pem,
        approvalPolicy: nodeStatusPolicy,
        ...changes,
      })
      running.push(controllers)
      await calm()
      return controllers
    },
    async label(name, labels) {
      await admin.patch(resources.nodes, { name }, 'merge', { metadata: { labels } })
      await calm()
    },
    async ask({
      by,
      node,
      dns = [],
      ips = [],
      organizations = ['system:nodes'],
      signerName,
      expirationSeconds,
    }) {
      const serving = dns.length + ips.length > 0
      const signer = generateSigner('Ed25519', seededRandom(1000 + made++))
      const commonName = `system:node:${node}`
      const subjectAltName = { dnsNames: dns, ipAddresses: ips.map(ip) }
      const pem = await signedRequest({ signer, commonName, organizations, subjectAltName })
      const { metadata } = await by.create<CertificateSigningRequest>(csrs, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name: `csr-${made}` },
        spec: {
          request: Buffer.from(pem).toString('base64'),
          signerName: signerName ?? (serving ? signerNames.kubeletServing : signerNames.kubeletClient),
          usages: ['digital signature', serving ? 'server auth' : 'client auth'],
          ...(expirationSeconds && { expirationSeconds }),
        },
      })
      await calm()
      return metadata.name
    },
    async register(name, addresses) {
      const node: KubeNode = { apiVersion: 'v1', kind: 'Node', metadata: { name } }
      const created = await admin.create(resources.nodes, node).catch(error => {
        if (!isStatus(error, 'AlreadyExists')) throw error
        return admin.get<KubeNode>(resources.nodes, { name })
      })
      const status = { ...created.status, addresses: addresses.map(([type, address]) => ({ type, address })) }
      await admin.update(resources.nodes, { ...created, status }, { subresource: 'status' })
      await calm()
    },
    async fate(name) {
      const { status } = await read(name)
      const conditions = status?.conditions?.map(({ type, reason }) => `${type} ${reason}`) ?? []
      return [...conditions, ...(status?.certificate ? ['issued'] : [])].join(', ') || 'pending'
    },
    async decide(name, type, reason) {
      const csr = await read(name)
      const added = { type, status: 'True' as const, reason }
      const status = { conditions: [...(csr.status?.conditions ?? []), added] }
      await admin.update(csrs, { ...csr, status }, { subresource: 'approval' })
      await calm()
    },
    async eventsOf(name) {
      const { items } = await admin.list<KubeEvent>(resources.events, { namespace: 'default' })
      const about = items.filter(event => event.involvedObject.name === name)
      return about.map(({ type, reason }) => `${type} ${reason}`)
    },
    async close() {
      await Promise.all(running.map(controllers => controllers.stop()))
      await cluster.close()
    },
  }
}
