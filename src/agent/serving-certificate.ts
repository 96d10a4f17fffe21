import { CertificateManager } from '../hold/certificate-manager.ts'
import { createCertificateStore } from '../hold/certificate-store.ts'
import type { KeyPair } from '../hold/key-pair.ts'
import { createMemoryStore } from '../hold/memory-store.ts'
import type { KeyAlgorithm } from '../keys/private-key.ts'
import type { KubeClient } from '../kube/client.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'
import { issuedPair } from './issued-pair.ts'
import { newTokenKey } from './new-token-key.ts'
import { issueSelfSigned, selfSignedTemplate } from './self-signed-serving.ts'
import type { TokenKeys } from './token-keys.ts'

export interface ServingCertificateOptions {
  options: AgentOptions
  ports: AgentPorts
  keyAlgorithm: KeyAlgorithm
  /** The API under the node's own certificate. */
  client: KubeClient
  /** Keys are made in this token; absent: in memory, and kept in files. */
  tokenKeys?: TokenKeys | undefined
  onRotated(next: KeyPair, previous: KeyPair | undefined): void
  onFailure(error: unknown): void
}

/**
 * The manager of the node's serving certificate. With serverTLSBootstrap the cluster issues it, and it is always renewed
 * in time; what is wanted is unknown until the Node object shows addresses (K-72), so the template is set later. Without,
 * it is self-signed for the node's name (K-71), and, unlike the kubelet's, renewed before it expires; it lies in the
 * same layout under the prefix `kubelet`.
 */
export function createServingCertificate(parts: ServingCertificateOptions): CertificateManager {
  const { options, ports, keyAlgorithm, client } = parts
  const { clock, random, log, disk } = ports
  const { nodeName, serverTLSBootstrap = false, clockCheckSeconds = 60 } = options
  const name = serverTLSBootstrap ? 'kubelet-server' : 'kubelet'
  const tokenKeys = serverTLSBootstrap ? parts.tokenKeys : undefined
  // Who keeps the client key in a token wants no private key on the disk: the serving pair is made anew at each start.
  const onDisk = tokenKeys !== undefined || !options.clientKeyToken
  const store = onDisk
    ? createCertificateStore({ disk, clock, log, directory: options.certDirectory, prefix: name })
    : createMemoryStore()
  const newKey =
    tokenKeys && (() => newTokenKey(tokenKeys, { keyAlgorithm, store, held: manager.held()?.key }))
  const manager = new CertificateManager({
    name,
    store,
    clock,
    random,
    log,
    rules: { renew: true, signsWithHeld: false, longestSleep: clockCheckSeconds * 1000 },
    // The cluster is asked under the client certificate, which may not be there yet.
    able: !serverTLSBootstrap,
    ...(!serverTLSBootstrap && { template: selfSignedTemplate(nodeName, keyAlgorithm) }),
    onRotated: parts.onRotated,
    onFailure: parts.onFailure,
    async request({ template, signal }) {
      if (!serverTLSBootstrap) return issueSelfSigned(template, keyAlgorithm, { clock, random })
      return issuedPair(parts, client, { template, signal }, newKey)
    },
  })
  return manager
}
