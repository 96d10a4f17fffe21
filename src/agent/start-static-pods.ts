import type { NodeFacts } from '../pods/environment.ts'
import { kubeletBackoff } from '../pods/lifecycle/restart-backoff.ts'
import type { Runtime } from '../pods/runtime.ts'
import type { FetchText } from '../pods/sources/manifest-url.ts'
import { StaticPods } from '../pods/static-pods.ts'
import { PodReport } from '../pods/status/pod-report.ts'
import type { Clock, ConnectRpc, Disk, Log, Net, Random, Spawn } from '../ports.ts'

/** Where containerd listens, and where a kubelet looks for it. */
const defaultEndpoint = 'unix:///run/containerd/containerd.sock'

/** How static pods are run: what only the agent's own configuration may say, never a manifest. */
export interface StaticPodOptions {
  /** Where the manifests are; need not exist. */
  directory: string
  /** Manifests that are fetched, beside the folder's. */
  urls?: readonly string[]
  /** Where the pods' state and logs are kept; belongs to this agent alone. */
  stateDirectory: string
  /** `process`: plain processes of this machine, without images or isolation. `cri`: containers of a container runtime. */
  runtime: 'process' | 'cri'
  /** With `cri`: `unix:///path` of the runtime's socket; need not be there yet. Default: containerd's. */
  containerRuntimeEndpoint?: string
  /** With `cri`: where archives of images may be; default: nowhere. */
  imageArchives?: string
  /** With `process`: containers may run as root; default false. */
  allowRoot?: boolean
  /** Longest wait before a container that keeps ending is started again, milliseconds; default the kubelet's. */
  longestRestartDelay?: number
  /** The pods end with the agent, each by its grace; default: they go on. */
  stopOnExit?: boolean
}

export interface StaticPodPorts {
  clock: Clock
  random: Random
  disk: Disk
  log: Log
  spawn: Spawn
  net: Net
  connectRpc: ConnectRpc
  /** Absent: no manifests are fetched. */
  fetchText?: FetchText
}

/** Static pods that run, and what the agent looks at of them. */
export interface RunningStaticPods {
  pods: StaticPods
  runtime: Runtime
  /** The node's address; undefined: it has none. */
  hostAddress(): string | undefined
  /** Ends watching and probing. The pods go on, unless they are to end with the agent. */
  stop(): Promise<void>
}

/**
 * Starts the static pods of this machine and their report on disk. They need nothing of an agent, so that a program
 * can have them run before it has loaded the rest: this loads the pods' room, and of the two runtimes the one asked for.
 */
export async function startStaticPods(
  options: StaticPodOptions,
  node: NodeFacts,
  ports: StaticPodPorts,
): Promise<RunningStaticPods> {
  const { directory, urls = [], stateDirectory } = options
  const { nodeName } = node
  const hostAddress = () => node.hostAddress
  const runtime = await createRuntime(options, ports, () => node)
  const { longestRestartDelay: most = kubeletBackoff.most } = options
  const backoff = { ...kubeletBackoff, most, first: Math.min(kubeletBackoff.first, most) }
  const pods = new StaticPods({ ...ports, nodeName, directory, urls, runtime, backoff, hostAddress })
  const report = new PodReport({ ...ports, stateDirectory, pods, runtime, hostAddress })
  pods.onChange(() => report.update())
  pods.start()
  return {
    pods,
    runtime,
    hostAddress,
    async stop() {
      if (options.stopOnExit) await pods.end()
      await pods.stop()
      await report.stop()
    },
  }
}

async function createRuntime(
  { runtime, stateDirectory, containerRuntimeEndpoint, imageArchives, allowRoot = false }: StaticPodOptions,
  ports: StaticPodPorts,
  node: () => NodeFacts,
): Promise<Runtime> {
  if (runtime === 'process') {
    const { ProcessRuntime } = await import('../pods/process/process-runtime.ts')
    return new ProcessRuntime({ ...ports, stateDirectory, allowRoot, node })
  }
  const { CriRuntime } = await import('../pods/cri/cri-runtime.ts')
  return new CriRuntime({
    ...ports,
    endpoint: containerRuntimeEndpoint ?? defaultEndpoint,
    stateDirectory,
    ...(imageArchives !== undefined && { imageArchives }),
    node,
  })
}
