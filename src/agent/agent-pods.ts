import type { KubeClient } from '../kube/client.ts'
import type { KubeNode, NodeAddress } from '../kube/types.ts'
import { CriRuntime } from '../pods/cri/cri-runtime.ts'
import type { NodeFacts } from '../pods/environment.ts'
import { ProcessRuntime } from '../pods/process/process-runtime.ts'
import type { Runtime } from '../pods/runtime.ts'
import { StaticPods } from '../pods/static-pods.ts'
import { MirrorPods } from '../pods/status/mirror-pods.ts'
import { PodReport } from '../pods/status/pod-report.ts'
import type { Spawn } from '../ports.ts'
import type { AgentOptions, AgentPorts, StaticPodOptions } from './agent-options.ts'
import type { NodePods } from './node-pods.ts'

/** Where containerd listens, and where a kubelet looks for it. */
const defaultEndpoint = 'unix:///run/containerd/containerd.sock'

export interface PodParts {
  /** The API under the node's own certificate. */
  client: KubeClient
  addresses(): readonly NodeAddress[]
  /** A pod that a credential waits for became ready. */
  onReadiness(): void
}

/** The static pods of this node, their report on disk, and their mirrors in the API. */
export interface AgentPods {
  start(): void
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

/** undefined: this agent runs no static pods. */
export function createAgentPods(
  options: AgentOptions,
  ports: AgentPorts,
  parts: PodParts,
): AgentPods | undefined {
  const { staticPods, nodeName, credentialPlugins = [] } = options
  const { spawn, net } = ports
  if (!staticPods || !spawn || !net) return undefined
  const { directory, stateDirectory, mirror = true } = staticPods
  const hostAddress = () => parts.addresses().find(({ type }) => type === 'InternalIP')?.address
  const node = () => ({ nodeName, hostAddress: hostAddress() })
  const runtime = createRuntime(staticPods, { ...ports, spawn }, node)
  if (!runtime) return undefined
  const pods = new StaticPods({ ...ports, net, nodeName, directory, runtime, hostAddress })
  const report = new PodReport({ ...ports, stateDirectory, pods, runtime, hostAddress })
  const mirrors = mirror
    ? new MirrorPods({ ...ports, client: parts.client, nodeName, pods, hostAddress })
    : undefined
  /** Pods that a credential waits for, and which of them are not ready. */
  const awaited = credentialPlugins.flatMap(({ staticPod }) => staticPod ?? [])
  let unready = new Set(awaited)
  pods.onChange(() => {
    report.update()
    mirrors?.update()
    const still = new Set(awaited.filter(name => pods.whyNotReady(name) !== undefined))
    const oneBecameReady = [...unready].some(name => !still.has(name))
    unready = still
    if (oneBecameReady) parts.onReadiness()
  })
  return {
    start: () => pods.start(),
    async stop() {
      await mirrors?.stop()
      await pods.stop()
      await report.stop()
    },
    whyNotReady: name => pods.whyNotReady(name),
    connected: () => mirrors?.start(),
    disconnected: () => void mirrors?.pause(),
    nodeSeen: node => mirrors?.nodeSeen(node),
    runtimeVersion: () => runtime.version?.(),
    served: { runtime, views: () => pods.views(), hostAddress },
  }
}

/** What runs the containers; undefined: this agent cannot speak with a container runtime. */
function createRuntime(
  {
    runtime,
    stateDirectory,
    containerRuntimeEndpoint: endpoint = defaultEndpoint,
    ...rest
  }: StaticPodOptions,
  ports: AgentPorts & { spawn: Spawn },
  node: () => NodeFacts,
): Runtime | undefined {
  const { allowRoot = false } = rest
  if (runtime === 'process') return new ProcessRuntime({ ...ports, stateDirectory, allowRoot, node })
  const { connectRpc } = ports
  return connectRpc && new CriRuntime({ ...ports, connectRpc, endpoint, stateDirectory, node })
}
