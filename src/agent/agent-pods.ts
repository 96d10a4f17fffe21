import type { KubeClient } from '../kube/client.ts'
import type { KubeNode } from '../kube/types.ts'
import { MirrorPods } from '../pods/status/mirror-pods.ts'
import type { AgentOptions, AgentPorts } from './agent-options.ts'
import type { NodePods } from './node-pods.ts'

export interface PodParts {
  /** The API under the node's own certificate. */
  client: KubeClient
  /** A pod that a credential waits for became ready. */
  onReadiness(): void
}

/** What the agent does with the static pods of this node: it waits for some, and shows all in the API. */
export interface AgentPods {
  stop(): Promise<void>
  /** Why this pod (`namespace/name`) cannot be relied on now; undefined: it is ready. */
  whyNotReady(name: string): string | undefined
  connected(): void
  disconnected(): void
  nodeSeen(node: KubeNode | undefined): void
  /** What runs them, as the Node shows it; undefined: not known (yet). */
  runtimeVersion?(): string | undefined
  /** For those who look at them through the node's HTTPS server. */
  served?: NodePods
}

/** undefined: this agent has no static pods. */
export function createAgentPods(
  { nodeName, credentialPlugins = [] }: AgentOptions,
  ports: AgentPorts,
  parts: PodParts,
): AgentPods | undefined {
  const running = ports.staticPods
  if (!running) return undefined
  const { pods, runtime, hostAddress } = running
  const mirrors = new MirrorPods({ ...ports, client: parts.client, nodeName, pods, hostAddress })
  /** Pods that a credential waits for, and which of them are not ready. */
  const awaited = credentialPlugins.flatMap(({ staticPod }) => staticPod ?? [])
  const notReady = () => new Set(awaited.filter(name => pods.whyNotReady(name) !== undefined))
  let unready = notReady()
  pods.onChange(() => {
    mirrors.update()
    const still = notReady()
    const oneBecameReady = [...unready].some(name => !still.has(name))
    unready = still
    if (oneBecameReady) parts.onReadiness()
  })
  return {
    async stop() {
      await mirrors.stop()
      await running.stop()
    },
    whyNotReady: name => pods.whyNotReady(name),
    connected: () => mirrors.start(),
    disconnected: () => void mirrors.pause(),
    nodeSeen: node => mirrors.nodeSeen(node),
    runtimeVersion: () => runtime.version?.(),
    served: { runtime, views: () => pods.views(), hostAddress },
  }
}
