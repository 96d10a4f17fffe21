/** Messages of the CRI v1 as far as they are used, and what their numbers mean. Times are milliseconds since the epoch. */

export interface SandboxMetadata {
  name: string
  uid: string
  namespace: string
  attempt: number
}

export interface NamespaceOption {
  network: number
  pid: number
  ipc: number
}

export const namespaceMode = { pod: 0, container: 1, node: 2 } as const
export const sandboxReady = 0
export const containerState = { created: 0, running: 1, exited: 2, unknown: 3 } as const
export const propagationMode = { None: 0, HostToContainer: 1, Bidirectional: 2 } as const

export interface SecurityProfile {
  /** 0 RuntimeDefault, 1 Unconfined, 2 Localhost. */
  profileType: number
  localhostRef?: string
}

export interface PodSandboxConfig {
  metadata: SandboxMetadata
  hostname?: string
  logDirectory: string
  /** Of a pod with a network of its own. */
  portMappings?: PortMapping[]
  labels: Record<string, string>
  annotations: Record<string, string>
  linux: {
    cgroupParent: string
    securityContext: {
      namespaceOptions: NamespaceOption
      runAsUser?: { value: number }
      runAsGroup?: { value: number }
      supplementalGroups: number[]
      privileged: boolean
      seccomp: SecurityProfile
    }
  }
}

/** By their numbers. */
export const portProtocols: readonly string[] = ['TCP', 'UDP', 'SCTP']

export interface PortMapping {
  protocol: number
  containerPort: number
  hostPort: number
  hostIp: string
}

export interface CriMount {
  containerPath: string
  hostPath: string
  readonly: boolean
  propagation: number
}

export interface ContainerConfig {
  metadata: { name: string; attempt: number }
  image: { image: string }
  command: string[]
  args: string[]
  workingDir: string
  envs: { key: string; value: string }[]
  mounts: CriMount[]
  labels: Record<string, string>
  annotations: Record<string, string>
  logPath: string
  linux: {
    resources: ContainerResources
    securityContext: {
      capabilities?: { addCapabilities: string[]; dropCapabilities: string[] }
      privileged: boolean
      namespaceOptions: NamespaceOption
      runAsUser?: { value: number }
      runAsGroup?: { value: number }
      readonlyRootfs: boolean
      supplementalGroups: number[]
      noNewPrivs: boolean
      maskedPaths: string[]
      readonlyPaths: string[]
      seccomp: SecurityProfile
    }
  }
}

export interface ContainerResources {
  cpuPeriod?: number
  cpuQuota?: number
  cpuShares?: number
  memoryLimitInBytes?: number
  oomScoreAdj: number
}

export interface PodSandbox {
  id: string
  metadata?: SandboxMetadata
  state: number
  /** Milliseconds since the epoch, as all times here. */
  createdAt: number
  labels: Record<string, string>
  annotations: Record<string, string>
}

export interface CriContainer {
  id: string
  podSandboxId: string
  metadata?: { name: string; attempt: number }
  imageRef: string
  state: number
  labels: Record<string, string>
  annotations: Record<string, string>
}

export interface ContainerStatus {
  id: string
  state: number
  createdAt: number
  startedAt: number
  finishedAt: number
  exitCode: number
  reason: string
  message: string
  logPath: string
}

export interface Image {
  id: string
  repoTags: string[]
  /** The user of the image; by number, or only by name. */
  uid?: { value: number }
  username: string
}

export interface RuntimeCondition {
  type: string
  status: boolean
  reason: string
  message: string
}

export interface RuntimeVersion {
  runtimeName: string
  runtimeVersion: string
}

export interface StreamRequest {
  stdin: boolean
  stdout: boolean
  stderr: boolean
  tty: boolean
}
