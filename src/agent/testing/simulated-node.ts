import assert from 'node:assert/strict'
import { inProcessTransport } from '../../apiserver/in-process-transport.ts'
import { RollcallError } from '../../errors.ts'
import { asynchronousDisk, MachineDisk } from '../../fleet/simulated/disk.ts'
import { SeededRandom } from '../../fleet/simulated/random.ts'
import { Secret } from '../../keys/secret.ts'
import { encodeKubeconfig } from '../../kube/encode-kubeconfig.ts'
import type { Connect } from '../../kube/transport.ts'
import { type CertificateSigningRequest, type KubeNode, type Lease, resources } from '../../kube/types.ts'
import { type ControlledCluster, calm, startControlledCluster } from '../../testing/controlled-cluster.ts'
import { refusal } from '../../testing/in-memory-transport.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { decodePem } from '../../x509/pem.ts'
import { type Agent, startAgent } from '../agent.ts'
import type { AgentOptions, AgentPorts } from '../agent-options.ts'
import type { ServingOptions } from '../serving.ts'

export const [second, minute, hour] = [1000, 60_000, 3_600_000]
export const server = 'https://192.0.2.1:6443'
export const token = 'abcdef.0123456789abcdef'
export const bootstrapKubeconfigPath = '/etc/kubernetes/bootstrap-kubelet.conf'
export const kubeconfigPath = '/etc/kubernetes/kubelet.conf'
export const certDirectory = '/var/lib/kubelet/pki'
/** Of a cluster's signer. */
export const shortLived = { certificateLifetimeSeconds: 3600 }

/** A cluster whose controllers start when the test says so, and the machine `node-a`, on one simulated clock. */
export interface SimulatedNode {
  cluster: ControlledCluster
  machine: Machine
  /** Lets time pass, in steps small enough for answers to come between. */
  pass(milliseconds: number): Promise<void>
  node(): Promise<KubeNode>
  lease(): Promise<Lease>
  requestsMade(): Promise<CertificateSigningRequest[]>
}

/** The body of a test with a node of its own, which must end without leaving a timer. */
export function onNode(live: (node: SimulatedNode) => Promise<void>): () => Promise<void> {
  return async () => {
    const cluster = await startControlledCluster()
    const machine = createMachine(cluster)
    const { admin } = cluster
    try {
      await live({
        cluster,
        machine,
        pass: milliseconds => pass(cluster, milliseconds),
        node: () => admin.get<KubeNode>(resources.nodes, { name: 'node-a' }),
        lease: () => admin.get<Lease>(resources.leases, { name: 'node-a', namespace: 'kube-node-lease' }),
        requestsMade: async () =>
          (await admin.list<CertificateSigningRequest>(resources.certificateSigningRequests)).items,
      })
    } finally {
      await machine.stop()
      await cluster.close()
    }
    assert.equal(cluster.clock.pending(), 0, 'timers are left')
  }
}

async function pass({ clock }: ControlledCluster, milliseconds: number): Promise<void> {
  const step = Math.max(second / 2, milliseconds / 40)
  for (let left = milliseconds; left > 0; left -= step) {
    await clock.advance(Math.min(step, left))
    await calm()
  }
}

export type Machine = ReturnType<typeof createMachine>

/** One node's disk and network; `address` is where the API answers, undefined: nowhere. */
function createMachine(cluster: ControlledCluster) {
  const { clock, api } = cluster
  const random = new SeededRandom('agent')
  const disk = asynchronousDisk(new MachineDisk(random.stream('disk'), clock), async call => call())
  const log = recordingLog()
  const agents: Agent[] = []
  const made = {
    disk,
    log,
    api: server as string | undefined,
    /** The API answers 401 to the node's certificate; a text: to this one alone. */
    refuse: false as boolean | string,
    /** PEM of the CA that the API serves with. */
    servesWith: cluster.ca.pem,
    connections: [] as Parameters<Connect>[0][],
    requests: [] as string[],
    served: undefined as ServingOptions | undefined,
    async writeBootstrap(bearer = token, at = server, certificateAuthority = cluster.ca.pem) {
      await disk.makeDirectory('/etc/kubernetes', 0o755)
      const fields = {
        server: at,
        certificateAuthority: { pem: certificateAuthority },
        user: { token: new Secret(bearer) },
      }
      await disk.write(bootstrapKubeconfigPath, encodeKubeconfig(fields).reveal(), { mode: 0o600 })
    },
    async start(options: Partial<AgentOptions> = {}, ports: Partial<AgentPorts> = {}): Promise<Agent> {
      const agent = startAgent(
        {
          nodeName: 'node-a',
          addresses: [
            { type: 'InternalIP', address: '10.0.0.1' },
            { type: 'Hostname', address: 'node-a' },
          ],
          certDirectory,
          kubeconfigPath,
          bootstrapKubeconfigPath,
          rotateCertificates: true,
          serverTLSBootstrap: true,
          keyAlgorithm: 'Ed25519',
          ...options,
        },
        {
          clock,
          random: random.stream(`agent ${agents.length}`),
          disk,
          log,
          connect,
          async listen(serving) {
            made.served = serving
            return { port: 10_250, close: async () => {} }
          },
          ...ports,
        },
      )
      agents.push(agent)
      await pass(cluster, 2 * second)
      return agent
    },
    stop: () => Promise.all(agents.map(agent => agent.stop())),
  }
  const connect: Connect = config => {
    made.connections.push(config)
    const certificates = decodePem(config.clientCertificate?.certificate ?? '').map(block => block.bytes)
    const peer = { remoteAddress: '10.0.0.1', ...(certificates.length > 0 && { certificates }) }
    const authorization = config.bearerToken && `Bearer ${config.bearerToken.reveal()}`
    const through = inProcessTransport(api, peer, authorization ? { authorization } : {})
    return {
      closeConnections: () => through.closeConnections(),
      async request(request) {
        made.requests.push(`${request.method} ${request.url.split('?')[0]}`)
        if (made.api !== config.server)
          throw new RollcallError('API_UNREACHABLE', `${config.server} is silent`)
        if (config.certificateAuthority?.trim() !== made.servesWith.trim())
          throw new RollcallError('API_UNREACHABLE', `${config.server}: unable to verify the certificate`)
        const shown = config.clientCertificate?.certificate
        if (shown && (made.refuse === true || made.refuse === shown)) return refusal(401, 'Unauthorized')
        return through.request(request)
      },
    }
  }
  return made
}
