import type { Container, StaticPod } from '../pod.ts'
import type { ContainerConfig, NamespaceOption, PodSandboxConfig, SecurityProfile } from './cri-types.ts'
import { namespaceMode } from './cri-types.ts'

/** Where a kubelet looks for the seccomp profiles of type Localhost. */
const seccompRoot = '/var/lib/kubelet/seccomp'
const profileTypes = { RuntimeDefault: 0, Unconfined: 1, Localhost: 2 } as const

/** The kubelet's: what a container that is not privileged does not see of /proc and /sys, and cannot write there. */
const maskedPaths = [
  '/proc/asound',
  '/proc/acpi',
  '/proc/interrupts',
  '/proc/kcore',
  '/proc/keys',
  '/proc/latency_stats',
  '/proc/timer_list',
  '/proc/timer_stats',
  '/proc/sched_debug',
  '/proc/scsi',
  '/sys/firmware',
  '/sys/devices/virtual/powercap',
]
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

export function isSeccompType(type: string): type is keyof typeof profileTypes {
  return Object.hasOwn(profileTypes, type)
}

/** Kubernetes' default without a profile is Unconfined. */
function seccompOf(profile: { type: string; localhostProfile?: string } | undefined): SecurityProfile {
  const type = profile && isSeccompType(profile.type) ? profile.type : 'Unconfined'
  return {
    profileType: profileTypes[type],
    ...(type === 'Localhost' && { localhostRef: `${seccompRoot}/${profile?.localhostProfile ?? ''}` }),
  }
}

function namespacesOf({ spec }: StaticPod): NamespaceOption {
  return {
    network: spec.hostNetwork ? namespaceMode.node : namespaceMode.pod,
    pid: spec.hostPID ? namespaceMode.node : namespaceMode.container,
    ipc: spec.hostIPC ? namespaceMode.node : namespaceMode.pod,
  }
}

const numbered = (field: string, value: number | undefined) => value !== undefined && { [field]: { value } }

export function sandboxSecurity(pod: StaticPod): PodSandboxConfig['linux']['securityContext'] {
  const { spec } = pod
  const own = spec.securityContext
  const containers = [...(spec.initContainers ?? []), ...spec.containers]
  return {
    namespaceOptions: namespacesOf(pod),
    ...numbered('runAsUser', own?.runAsUser),
    // A runtime takes a group only beside a user.
    ...(own?.runAsUser !== undefined && numbered('runAsGroup', own.runAsGroup)),
    supplementalGroups: own?.supplementalGroups ?? [],
    privileged: containers.some(({ securityContext }) => securityContext?.privileged),
    // As a kubelet: the pause container has the runtime's profile unless the pod says otherwise.
    seccomp: own?.seccompProfile
      ? seccompOf(own.seccompProfile)
      : { profileType: profileTypes.RuntimeDefault },
  }
}

export function containerSecurity(
  pod: StaticPod,
  { securityContext: own }: Container,
  /** User of the image, where neither pod nor container names one. */
  imageUser: number | undefined,
): ContainerConfig['linux']['securityContext'] {
  const shared = pod.spec.securityContext
  const privileged = own?.privileged ?? false
  const group = own?.runAsGroup ?? shared?.runAsGroup
  const user = own?.runAsUser ?? shared?.runAsUser ?? (group === undefined ? undefined : imageUser)
  const { add = [], drop = [] } = own?.capabilities ?? {}
  return {
    ...(add.length + drop.length > 0 && {
      capabilities: { addCapabilities: add.map(bareName), dropCapabilities: drop.map(bareName) },
    }),
    privileged,
    namespaceOptions: namespacesOf(pod),
    ...numbered('runAsUser', user),
    ...(user !== undefined && numbered('runAsGroup', group)),
    readonlyRootfs: own?.readOnlyRootFilesystem ?? false,
    supplementalGroups: shared?.supplementalGroups ?? [],
    noNewPrivs: own?.allowPrivilegeEscalation === false,
    maskedPaths: privileged ? [] : maskedPaths,
    readonlyPaths: privileged ? [] : readonlyPaths,
    seccomp: seccompOf(privileged ? undefined : (own?.seccompProfile ?? shared?.seccompProfile)),
  }
}

/** Runtimes take capabilities without CAP_ before them. */
function bareName(capability: string): string {
  return capability.toUpperCase().replace(/^CAP_/, '')
}
