import type { CredentialSource } from '../join/credential-sources.ts'
import { discoverySource } from '../join/discovery/discovery-source.ts'
import { createExecCredential } from '../join/exec-source.ts'
import { kubeconfigSource } from '../join/kubeconfig-source.ts'
import { pluginSource } from '../join/plugin-source.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'
import type { AgentPods } from './agent-pods.ts'
import { attestSources } from './attest-side.ts'
import type { NodeEndpoint } from './node-endpoint.ts'

export interface SourceParts {
  pods: AgentPods | undefined
  endpoint: NodeEndpoint
  /** Asked between the plugins and the bootstrap kubeconfig. */
  fromTokens?: readonly CredentialSource[]
}

/** The node's sources of bootstrap credentials in order: its plugins, the bootstrap kubeconfig, exec plugin and all, discovery. */
export function credentialSources(
  options: AgentOptions,
  ports: AgentPorts,
  { pods, endpoint, fromTokens = [] }: SourceParts,
): CredentialSource[] {
  const { bootstrapKubeconfigPath, credentialPlugins = [], nodeName } = options
  const { net, spawn, environment = {} } = ports
  const sources = credentialPlugins.flatMap(({ socket, staticPod, owner }) => {
    if (!net) return []
    const owners = [spawn?.user, owner].filter(user => user !== undefined)
    const whyNotReady =
      staticPod === undefined
        ? undefined
        : () => pods?.whyNotReady(staticPod) ?? (pods ? undefined : 'no static pods are run here')
    return pluginSource({
      ...ports,
      net,
      socket,
      owners,
      endpoint: () => knownEndpoint(endpoint),
      ...(whyNotReady && { whyNotReady }),
    })
  })
  sources.push(...fromTokens)
  sources.push(...attestSources(options, ports, () => knownEndpoint(endpoint)))
  if (bootstrapKubeconfigPath !== undefined) {
    const execCredential = spawn && createExecCredential({ ...ports, spawn, nodeName, environment })
    sources.push(
      kubeconfigSource(bootstrapKubeconfigPath, { ...ports, ...(execCredential && { execCredential }) }),
    )
  }
  if (options.discovery) sources.push(discoverySource({ ...ports, ...options.discovery }))
  return sources
}

/** The API server that is known so far, without a credential. */
export async function knownEndpoint(endpoint: NodeEndpoint) {
  // A kubeconfig may have come since the start.
  if (!endpoint.current) await endpoint.tryAnother()
  return endpoint.current?.connection
}
