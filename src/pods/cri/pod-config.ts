/** What the runtime is told of a pod and of its containers. Pure. */
import { environmentOf, expandAll, type NodeFacts } from '../environment.ts'
import type { Container, StaticPod } from '../pod.ts'
import type { StartOrder } from '../runtime.ts'
import { podFolder, volumeFolder } from '../state/pod-folder.ts'
import {
  type ContainerConfig,
  type CriMount,
  type PodSandboxConfig,
  type PortMapping,
  portProtocols,
  propagationMode,
} from './cri-types.ts'
import { containerAnnotations, containerLabels, sandboxAnnotations, sandboxLabels } from './labels.ts'
import { type CgroupDriver, cgroupParent } from './pod-cgroup.ts'
import { resourcesOf } from './resources.ts'
import { containerSecurity, sandboxSecurity } from './security.ts'

export interface ConfigFacts extends NodeFacts {
  /** State folder of the agent; also what tells its pods from those of others. */
  stateDirectory: string
  cgroupDriver: CgroupDriver
  /** Bytes. */
  nodeMemory: number
}

export const logsRoot = (stateDirectory: string) => `${stateDirectory}/logs`
export const volumesRoot = (stateDirectory: string) => `${stateDirectory}/volumes`
const logName = ({ container, attempt }: StartOrder) => `${container.name}/${attempt}.log`

export function sandboxConfig(pod: StaticPod, attempt: number, facts: ConfigFacts): PodSandboxConfig {
  const { name, namespace, uid } = pod.metadata
  return {
    metadata: { name, namespace, uid, attempt },
    // On the host network the name is the host's.
    ...(!pod.spec.hostNetwork && { hostname: hostnameOf(pod), portMappings: portMappings(pod) }),
    logDirectory: podFolder(logsRoot(facts.stateDirectory), pod),
    labels: sandboxLabels(pod, facts.stateDirectory),
    annotations: sandboxAnnotations(pod),
    linux: { cgroupParent: cgroupParent(pod, facts.cgroupDriver), securityContext: sandboxSecurity(pod) },
  }
}

/** At most what Linux takes, as the kubelet shortens it. */
function hostnameOf({ spec, metadata }: StaticPod): string {
  return (spec.hostname ?? metadata.name).slice(0, 63).replace(/[.-]+$/, '')
}

/** Only the network's own plugins can map ports: one without that ability leaves them closed, as below a kubelet. */
function portMappings({ spec }: StaticPod): PortMapping[] {
  return spec.containers
    .flatMap(({ ports = [] }) => ports)
    .flatMap(({ containerPort, hostPort, hostIP = '', protocol = 'TCP' }) =>
      hostPort
        ? [{ containerPort, hostPort, hostIp: hostIP, protocol: portProtocols.indexOf(protocol) }]
        : [],
    )
}

/** `imageUser`: what the image says, where it says a number. */
export function containerConfig(
  order: StartOrder,
  facts: ConfigFacts,
  imageUser: number | undefined,
): ContainerConfig {
  const { pod, container, attempt } = order
  const environment = environmentOf(container, pod, facts)
  return {
    metadata: { name: container.name, attempt },
    image: { image: container.image },
    command: expandAll(container.command, environment),
    args: expandAll(container.args, environment),
    workingDir: container.workingDir ?? '',
    envs: Object.entries(environment).map(([key, value]) => ({ key, value })),
    mounts: mountsOf(pod, container, facts.stateDirectory),
    labels: containerLabels(order, facts.stateDirectory),
    annotations: containerAnnotations(order),
    logPath: logName(order),
    linux: {
      resources: resourcesOf(pod, container, facts.nodeMemory),
      securityContext: containerSecurity(pod, container, imageUser),
    },
  }
}

function mountsOf(pod: StaticPod, { volumeMounts = [] }: Container, stateDirectory: string): CriMount[] {
  return volumeMounts.flatMap(({ name, mountPath, readOnly = false, mountPropagation = 'None' }) => {
    const volume = pod.spec.volumes?.find(volume => volume.name === name)
    if (!volume) return []
    return {
      containerPath: mountPath.startsWith('/') ? mountPath : `/${mountPath}`,
      hostPath: volume.hostPath?.path ?? volumeFolder(volumesRoot(stateDirectory), pod, name),
      // Nobody but us writes what the pod is told of itself.
      readonly: readOnly || volume.downwardAPI !== undefined,
      propagation: propagationMode[mountPropagation],
    }
  })
}
