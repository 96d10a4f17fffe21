import type { CertificateManager } from '../hold/certificate-manager.ts'
import type { CertificateStatus } from '../hold/certificate-status.ts'
import type { NodeInApi } from './node-in-api.ts'
import type { NodeServer } from './node-server.ts'

export interface AgentStatus {
  client: CertificateStatus
  serving: CertificateStatus
  /** The Node is in the API, as far as the agent knows. */
  registered: boolean
  /** Where the HTTPS server listens. */
  port?: number
  /** The latest trouble that is not over. */
  lastError?: string
}

export interface StatusParts {
  client: Pick<CertificateManager, 'status'>
  serving: Pick<CertificateManager, 'status'>
  node: Pick<NodeInApi, 'registered' | 'error'>
  server: Pick<NodeServer, 'port' | 'lastError'> | undefined
}

/** How the parts of an agent stand now. */
export function agentStatus(parts: StatusParts): AgentStatus {
  const { node, server } = parts
  const [client, serving] = [parts.client.status(), parts.serving.status()]
  const lastError = client.lastError ?? node.error ?? serving.lastError ?? server?.lastError
  return {
    client,
    serving,
    registered: node.registered,
    ...(server?.port !== undefined && { port: server.port }),
    ...(lastError !== undefined && { lastError }),
  }
}
