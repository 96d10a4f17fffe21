import { CertificateManager } from '../hold/certificate-manager.ts'
import type { CertificateStore } from '../hold/certificate-store.ts'
import type { RequestCause } from '../hold/hold-state.ts'
import type { AcquireReason, BootstrapCredential, CredentialChain } from '../join/credential-sources.ts'
import { keyInMemory } from '../join/request-certificate.ts'
import { clientTemplate } from '../join/template.ts'
import type { KeyAlgorithm } from '../keys/private-key.ts'
import { createClient, isStatus, type KubeClient } from '../kube/client.ts'
import type { Connect } from '../kube/transport.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'
import { AttestedKey } from './attested-key.ts'
import { issuedPair } from './issued-pair.ts'
import { newTokenKey } from './new-token-key.ts'
import type { TokenKeys } from './token-keys.ts'

export interface ClientCertificateOptions {
  options: AgentOptions
  ports: AgentPorts
  keyAlgorithm: KeyAlgorithm
  store: CertificateStore
  chain: CredentialChain
  /** Keys are made in this token; absent: in memory, and kept in files. */
  tokenKeys?: TokenKeys | undefined
  /** Connects with a bootstrap credential. */
  connectToJoin: Connect
  /** The API under the node's own certificate. */
  client: KubeClient
  /** A certificate was obtained with this credential. */
  onJoined(credential: BootstrapCredential): Promise<void>
  onFailure(error: unknown): void
}

/** Why the bootstrap credential is asked; undefined: the certificate held signs the request itself. */
const bootstrapReason: Readonly<Record<RequestCause, AcquireReason | undefined>> = {
  initial: 'initial',
  // The stored certificate is another node's: it may not ask for ours.
  template: 'initial',
  renewal: undefined,
  premature: undefined,
  expired: 'expired',
  rejected: 'rejected',
}

/**
 * The manager of the node's client certificate. A renewal is asked for with the certificate itself, everything else with
 * a bootstrap credential that is acquired anew for each attempt, in the same process (better than K-38).
 */
export function createClientCertificate(parts: ClientCertificateOptions): CertificateManager {
  const { options, ports, keyAlgorithm, store, chain, tokenKeys } = parts
  const { clock, random, log } = ports
  const { nodeName, rotateCertificates = false, clockCheckSeconds = 60 } = options
  const newKey =
    tokenKeys && (() => newTokenKey(tokenKeys, { keyAlgorithm, store, held: manager.held()?.key }))
  const attested = new AttestedKey()
  const manager = new CertificateManager({
    name: 'kubelet-client',
    store,
    clock,
    random,
    log,
    rules: { renew: rotateCertificates, signsWithHeld: true, longestSleep: clockCheckSeconds * 1000 },
    template: clientTemplate(nodeName, keyAlgorithm),
    onFailure: parts.onFailure,
    async request({ cause, template, signal }) {
      const ask = (client: KubeClient, itsKey = newKey) =>
        issuedPair(parts, client, { template, signal }, itsKey)
      const reason = bootstrapReason[cause]
      if (reason === undefined) return ask(parts.client)
      const key = () => attested.get(() => newKey?.() ?? keyInMemory({ keyAlgorithm, random }))
      const credential = await chain.acquire({ reason, nodeName, signal, key })
      const { key: only } = credential
      const transport = parts.connectToJoin(credential.connection)
      try {
        const pair = await ask(createClient(transport), only && (async () => only))
        attested.forget()
        await parts.onJoined(credential)
        return pair
      } catch (error) {
        // Only a 401 speaks of the credential; a 403 is about its rights, and the next source would not change them.
        if (isStatus(error, 'Unauthorized')) chain.reject(credential)
        if (only) attested.failed(error)
        throw error
      } finally {
        transport.closeConnections()
      }
    },
  })
  return manager
}
