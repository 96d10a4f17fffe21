import type { KubeClient } from '../kube/client.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'
import { callerRoots } from './caller-roots.ts'
import { createNodeAccess } from './node-access.ts'
import { createNodeApi } from './node-api.ts'
import type { NodePods } from './node-pods.ts'
import { NodeServer } from './node-server.ts'
import type { ServingPair } from './serving.ts'
import { createTokenCallers } from './token-callers.ts'
import type { Handshakes } from './token-handshakes.ts'

export interface HttpsSideParts {
  options: AgentOptions
  ports: AgentPorts
  /** The API under the node's own certificate: it judges callers. */
  client: KubeClient
  pods: NodePods | undefined
  /** PEM of the CAs that callers' certificates are verified with, where no file names them. */
  callerAnchors(): string
  metrics(): Promise<string>
  certificate(): ServingPair | undefined
  /** Makes handshakes with certificates whose key is in a token. */
  handshakes: Handshakes | undefined
  onListening(): void
}

/** The node's HTTPS server with all that answers there; undefined: none is wanted. */
export function createHttpsSide(parts: HttpsSideParts): NodeServer | undefined {
  const { options, ports, client, pods, handshakes } = parts
  const { listen, clock, disk, log } = ports
  if (!listen || options.besideKubelet) return undefined
  const { nodeName, listenAddress = '0.0.0.0', port = 10_250, clientCertificateAuthorityPath } = options
  const handle = createNodeApi({
    clock,
    disk,
    log,
    access: createNodeAccess({ client, clock, nodeName }),
    tokens: createTokenCallers({ client, clock }),
    ...(pods && { pods }),
    callerRoots: callerRoots({
      ...ports,
      path: clientCertificateAuthorityPath,
      fallback: parts.callerAnchors,
    }),
    metrics: parts.metrics,
  })
  return new NodeServer({
    ...ports,
    listen,
    address: listenAddress,
    port,
    handle,
    getCertificate: parts.certificate,
    ...(handshakes && { handshakes }),
    onListening: parts.onListening,
  })
}
