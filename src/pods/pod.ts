/** Static pods as far as this agent honours them; fields are Kubernetes' (static-pods.md 8 lists what is supported). */
import type { KubeObject, ObjectMeta, ResourceRef } from '../kube/types.ts'

export interface EnvironmentVariable {
  name: string
  value?: string
  valueFrom?: { fieldRef?: { fieldPath: string } }
}

export interface Probe {
  exec?: { command: string[] }
  httpGet?: {
    path?: string
    port: number | string
    host?: string
    scheme?: 'HTTP' | 'HTTPS'
    httpHeaders?: { name: string; value: string }[]
  }
  tcpSocket?: { port: number | string; host?: string }
  /** Seconds. */
  initialDelaySeconds?: number
  timeoutSeconds?: number
  periodSeconds?: number
  successThreshold?: number
  failureThreshold?: number
  terminationGracePeriodSeconds?: number
}

export const probeKinds = ['startupProbe', 'livenessProbe', 'readinessProbe'] as const
export type ProbeKind = (typeof probeKinds)[number]

export interface ContainerSecurity {
  privileged?: boolean
  runAsUser?: number
  runAsGroup?: number
  runAsNonRoot?: boolean
  readOnlyRootFilesystem?: boolean
  allowPrivilegeEscalation?: boolean
  capabilities?: { add?: string[]; drop?: string[] }
  seccompProfile?: { type: string; localhostProfile?: string }
}

export interface VolumeMount {
  name: string
  mountPath: string
  readOnly?: boolean
  subPath?: string
  mountPropagation?: 'None' | 'HostToContainer' | 'Bidirectional'
}

export interface ContainerPort {
  name?: string
  containerPort: number
  hostPort?: number
  hostIP?: string
  protocol?: string
}

export interface Container extends Partial<Record<ProbeKind, Probe>> {
  name: string
  image: string
  imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never'
  command?: string[]
  args?: string[]
  workingDir?: string
  env?: EnvironmentVariable[]
  ports?: ContainerPort[]
  resources?: { limits?: Record<string, unknown>; requests?: Record<string, unknown> }
  volumeMounts?: VolumeMount[]
  lifecycle?: { preStop?: { exec?: { command: string[] }; sleep?: { seconds: number } } }
  securityContext?: ContainerSecurity
}

export type HostPathType =
  | ''
  | 'DirectoryOrCreate'
  | 'Directory'
  | 'FileOrCreate'
  | 'File'
  | 'Socket'
  | 'CharDevice'
  | 'BlockDevice'

export interface Volume {
  name: string
  hostPath?: { path: string; type?: HostPathType }
  emptyDir?: { medium?: string; sizeLimit?: unknown }
  downwardAPI?: { items?: { path: string; fieldRef?: { fieldPath: string } }[] }
}

export interface PodSpec {
  nodeName?: string
  hostNetwork?: boolean
  hostPID?: boolean
  hostIPC?: boolean
  restartPolicy?: 'Always' | 'OnFailure' | 'Never'
  /** Seconds. */
  terminationGracePeriodSeconds?: number
  priorityClassName?: string
  priority?: number
  hostname?: string
  dnsPolicy?: string
  tolerations?: Record<string, unknown>[]
  initContainers?: Container[]
  containers: Container[]
  volumes?: Volume[]
  securityContext?: Pick<
    ContainerSecurity,
    'runAsUser' | 'runAsGroup' | 'runAsNonRoot' | 'seccompProfile'
  > & {
    supplementalGroups?: number[]
  }
}

/** A pod as a manifest gives it, checked, before it has its identity. */
export interface ManifestPod extends KubeObject {
  spec: PodSpec
}

/** A pod with the identity that it has on this node (manifest/identity.ts). */
export interface StaticPod extends KubeObject {
  metadata: ObjectMeta & { namespace: string; uid: string; annotations: Record<string, string> }
  spec: PodSpec
}

/** `namespace/name`: what a worker, a conflict and a credential that needs the pod go by. */
export function podKey({ metadata }: StaticPod): string {
  return `${metadata.namespace}/${metadata.name}`
}

/** Changes with the contents of the manifest, also where it sets its uid itself. */
export function revisionOf(pod: StaticPod): string {
  return pod.metadata.annotations[annotations.hash] ?? pod.metadata.uid
}

/** Seconds between TERM and KILL; Kubernetes' default is 30. */
export function graceSeconds(pod: StaticPod): number {
  return pod.spec.terminationGracePeriodSeconds ?? 30
}

export const annotations = {
  hash: 'kubernetes.io/config.hash',
  source: 'kubernetes.io/config.source',
  seen: 'kubernetes.io/config.seen',
  mirror: 'kubernetes.io/config.mirror',
  /** Path of the manifest. */
  manifest: 'rollcall.dev/manifest',
  /** `process`: the manifest knows that it runs without a container. */
  runtime: 'rollcall.dev/runtime',
  /** What the manifest accepts not to be enforced: a comma-separated list of field names. */
  unenforced: 'rollcall.dev/accept-unenforced',
  /** Whole number; lower ones start first. */
  startOrder: 'rollcall.dev/start-order',
  requiredFor: 'rollcall.dev/required-for',
} as const

export const podResource: ResourceRef = {
  group: '',
  version: 'v1',
  plural: 'pods',
  kind: 'Pod',
  namespaced: true,
}
