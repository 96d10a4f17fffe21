import { Registry } from 'prom-client'
import { hasCode } from '../errors.ts'
import type { CertificateManager } from '../hold/certificate-manager.ts'
import type { CertificateStore } from '../hold/certificate-store.ts'
import type { CredentialChain } from '../join/credential-sources.ts'
import type { KeyAlgorithm } from '../keys/private-key.ts'
import type { KubeClient } from '../kube/client.ts'
import { type AgentMetrics, type CertificateView, createAgentMetrics } from './agent-metrics.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'
import { createClientCertificate } from './client-certificate.ts'
import type { NodeEndpoint } from './node-endpoint.ts'
import { registerPodMetrics } from './pod-metrics.ts'
import { createServingCertificate } from './serving-certificate.ts'
import type { TokenSide } from './token-side.ts'

export interface NodeCertificatesParts {
  options: AgentOptions
  ports: AgentPorts
  keyAlgorithm: KeyAlgorithm
  /** The API under the node's own certificate. */
  client: KubeClient
  /** Of the client certificate. */
  store: CertificateStore
  chain: CredentialChain
  token: TokenSide
  endpoint: NodeEndpoint
  /** Nobody answered a request for the client certificate. */
  onUnreachable(): void
}

export interface NodeCertificates {
  client: CertificateManager
  serving: CertificateManager
  metrics: AgentMetrics
}

/** The managers of both certificates, and the metrics that tell of them. */
export function createNodeCertificates(parts: NodeCertificatesParts): NodeCertificates {
  const { options, endpoint, token } = parts
  const { clock } = parts.ports
  const client = createClientCertificate({
    ...parts,
    tokenKeys: token.keys,
    connectToJoin: token.connectToJoin,
    onJoined: credential => endpoint.learn(credential),
    onFailure: error => {
      metrics.clientFailed()
      if (hasCode(error, 'API_UNREACHABLE')) parts.onUnreachable()
    },
  })
  const serving = createServingCertificate({
    ...parts,
    tokenKeys: token.serving?.keys,
    onRotated: (_, previous) => {
      if (previous) metrics.servingRotated((clock.now() - previous.leaf.notBefore) / 1000)
    },
    onFailure: () => metrics.servingFailed(),
  })
  const registry = new Registry()
  const metrics = createAgentMetrics(
    clock,
    viewOf(client),
    options.serverTLSBootstrap ? viewOf(serving) : undefined,
    registry,
  )
  const { staticPods } = parts.ports
  if (staticPods) registerPodMetrics(registry, staticPods.pods)
  return { client, serving, metrics }
}

function viewOf(manager: CertificateManager): CertificateView {
  return {
    usableUntil: () => manager.current()?.leaf.notAfter,
    status: () => manager.status(),
  }
}
