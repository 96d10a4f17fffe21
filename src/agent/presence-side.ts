import { hasCode } from '../errors.ts'
import type { KubeClient } from '../kube/client.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'
import type { NodeFacts } from './node-object.ts'
import { NodePresence } from './node-presence.ts'

export interface PresenceParts {
  options: AgentOptions
  ports: AgentPorts
  /** The API under the node's own certificate. */
  client: KubeClient
  /** Whether there is one. */
  ready(): boolean
  facts(): NodeFacts
  /** Of the Lease. */
  annotations(): Record<string, string> | undefined
  /** After each beat; `error`: why it failed, one line. */
  onBeat(error: string | undefined): void
  /** Nobody has answered several times. */
  onSilence(): void
}

/** The node's presence in the cluster, by the agent's options; a failure is logged once. */
export function createPresence(parts: PresenceParts): NodePresence {
  const { options, ports, onBeat } = parts
  let said: string | undefined
  return new NodePresence({
    ...ports,
    client: parts.client,
    ready: parts.ready,
    facts: parts.facts,
    annotations: parts.annotations,
    looksOnly: options.besideKubelet !== undefined,
    leaseDurationSeconds: options.leaseDurationSeconds ?? 40,
    renewIntervalSeconds: options.leaseRenewIntervalSeconds ?? 10,
    statusReportSeconds: options.nodeStatusReportSeconds ?? 300,
    onBeat: () => {
      said = undefined
      onBeat(undefined)
    },
    onFailure: (error, failures) => {
      const why = error instanceof Error ? error.message : String(error)
      if (why !== said) ports.log.warn('the node cannot report to the API', { node: options.nodeName, why })
      said = why
      onBeat(why)
      // K-55, and beyond it (K-60): the server may have moved or changed its CA.
      if (failures >= 2 && hasCode(error, 'API_UNREACHABLE')) parts.onSilence()
    },
  })
}
