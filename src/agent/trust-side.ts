import { posix } from 'node:path'
import { hasCode, RollcallError } from '../errors.ts'
import type { CertificateManager } from '../hold/certificate-manager.ts'
import { createClient, type KubeClient } from '../kube/client.ts'
import type { Connect } from '../kube/transport.ts'
import { type ConfigMap, resources } from '../kube/types.ts'
import { probeName } from '../trust/node-orders.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'
import { AgentTrust, type KubeletBeside } from './agent-trust.ts'
import { kubeletClientCas } from './beside-kubelet/kubelet-client-cas.ts'
import type { NodeEndpoint } from './node-endpoint.ts'

export interface TrustSideParts {
  options: AgentOptions
  ports: AgentPorts
  /** The API under the node's own certificate. */
  client: KubeClient
  endpoint: NodeEndpoint
  /** The node's certificates. */
  held: { client: CertificateManager; serving: CertificateManager }
  /** Absent: the agent is the kubelet. */
  kubelet?: KubeletBeside
  /** With certificates whose key may be in a token. */
  connect: Connect
  /** The API server is trusted by other CAs from now on. */
  onTrustChanged(): void
  /** What is reported has changed. */
  onReport(): void
}

/** What of the agent has to do with signed trust bundles: where they take effect, and how CAs are probed. */
export function createTrustSide(parts: TrustSideParts): AgentTrust {
  const { options, ports, endpoint, held } = parts
  const { trustRootsPath, kubeconfigPath, nodeInfo, nodeName, instance, serverTLSBootstrap } = options
  const { kubeletClientCaPath: callersPath } = options
  const callers = callersPath === undefined ? undefined : kubeletClientCas(callersPath, ports)
  return new AgentTrust({
    ...ports,
    client: parts.client,
    rootsPath: trustRootsPath,
    directory: posix.join(posix.dirname(kubeconfigPath), 'trust'),
    instance: {
      bootID: nodeInfo?.bootID ?? nodeName,
      ...(instance ?? { pid: 0, startTicks: ports.clock.now() }),
    },
    onAnchors: (role, pem) => {
      if (role === 'apiserver-serving') void endpoint.trust(pem).then(parts.onTrustChanged)
      if (role === 'client') callers?.keep(pem)
    },
    onReport: parts.onReport,
    ...(parts.kubelet && { kubelet: parts.kubelet }),
    clusterInfo: () => clusterInfo(parts),
    probe: authority => probe(parts, authority),
    renew: (role, issuer) => {
      if (role === 'client') held.client.renewUnlessFrom(issuer)
      if (role === 'kubelet-serving' && serverTLSBootstrap) held.serving.renewUnlessFrom(issuer)
    },
    holds: role => (role === 'client' ? issuerOf(held.client.current()?.chain) : undefined),
  })
}

/** Key identifier of the CA that issued the first certificate of the PEM. */
function issuerOf(chain: string | undefined): string | undefined {
  const [leaf] = chain === undefined ? [] : parseCertificatesPem(chain)
  return leaf?.authorityKeyIdentifier && Buffer.from(leaf.authorityKeyIdentifier).toString('hex')
}

/** Unverified: only what trust roots have signed is taken from it, and no credential is shown. */
async function clusterInfo({ ports, endpoint }: TrustSideParts): Promise<Readonly<Record<string, string>>> {
  const server = endpoint.current?.connection.server
  if (server === undefined) return {}
  const transport = ports.connect({ server, insecureSkipTlsVerify: true })
  try {
    const target = { name: 'cluster-info', namespace: 'kube-public' }
    const { data } = await createClient(transport).get<ConfigMap>(resources.configMaps, target)
    return data ?? {}
  } finally {
    transport.closeConnections()
  }
}

/** An authenticated request after a handshake with the bare chain of one CA; a connection of its own resumes nothing. */
async function probe({ endpoint, held, connect }: TrustSideParts, authority: number): Promise<boolean> {
  const pair = held.client.current()
  const { current } = endpoint
  if (!pair || !current) throw new RollcallError('CREDENTIAL_UNAVAILABLE', 'No certificate to probe with.')
  const transport = connect({
    ...current.connection,
    tlsServerName: probeName(authority),
    clientCertificate: { certificate: pair.chain, key: pair.key },
  })
  try {
    const { status } = await transport.request({ method: 'GET', url: '/version', headers: {} })
    return status === 200
  } catch (error) {
    if (hasCode(error, 'API_UNREACHABLE')) return false
    throw error
  } finally {
    transport.closeConnections()
  }
}
