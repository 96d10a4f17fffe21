import { annotations, type Container, type StaticPod } from '../pod.ts'
import { mountsOf, trimmed } from './mounts.ts'

export interface ProcessRules {
  /** User id of the agent. */
  agentUser: number
  /** Containers may run as root: told by the agent's own configuration, never by a manifest. */
  allowRoot: boolean
}

export interface ProcessUser {
  user: number
  group: number
  groups: readonly number[]
}

/** Whom a container runs as. Without runAsGroup the group has the user's number, not root's. */
export function userOf(
  { spec }: StaticPod,
  { securityContext: own }: Container,
  agentUser: number,
): ProcessUser {
  const pod = spec.securityContext
  const user = own?.runAsUser ?? pod?.runAsUser ?? agentUser
  return { user, group: own?.runAsGroup ?? pod?.runAsGroup ?? user, groups: pod?.supplementalGroups ?? [] }
}

/**
 * Why a pod cannot run as plain processes. Everything that a manifest asks for and that is not done here is a refusal,
 * unless the manifest says that it accepts this (annotation rollcall.dev/accept-unenforced).
 */
export function processRefusals(pod: StaticPod, rules: ProcessRules): string[] {
  const { spec, metadata } = pod
  const reasons: string[] = []
  if (spec.hostNetwork !== true)
    reasons.push('spec.hostNetwork: must be true, a process has no network of its own')
  const accepted = new Set(
    (metadata.annotations[annotations.unenforced] ?? '').split(',').map(name => name.trim()),
  )
  const isProcess = metadata.annotations[annotations.runtime] === 'process'
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    const { name, image, command } = container
    const at = (why: string) => reasons.push(`container ${name}: ${why}`)
    if (image !== 'host' && !isProcess)
      at(
        `image: is ${image}; the runtime "process" has none, say "host" or set the annotation ${annotations.runtime}: process`,
      )
    if (!command?.length) at('command: is missing, and there is no image to take it from')
    for (const why of userProblems(pod, container, rules)) at(why)
    for (const why of mountProblems(pod, container, rules)) at(why)
    for (const field of unenforced(pod, container)) {
      if (!accepted.has(field))
        at(
          `${field}: is not enforced by the runtime "process"; accept that with the annotation ${annotations.unenforced}: ${field}`,
        )
    }
  }
  return reasons
}

function userProblems(
  pod: StaticPod,
  container: Container,
  { agentUser, allowRoot }: ProcessRules,
): string[] {
  const { user } = userOf(pod, container, agentUser)
  if (agentUser !== 0 && user !== agentUser)
    return [`runAsUser: is ${user}, and the agent runs as ${agentUser}, not as root`]
  const security = container.securityContext
  if (user !== 0) {
    return security?.privileged ? ['securityContext.privileged: needs root'] : []
  }
  if (security?.runAsNonRoot ?? pod.spec.securityContext?.runAsNonRoot)
    return ['runAsNonRoot: and it would run as root']
  return allowRoot ? [] : ['would run as root; set runAsUser, or allow it in the configuration of the agent']
}

/** Root mounts volumes for the process alone (mounts.ts); anybody else sees a hostPath only where it is. */
function mountProblems(pod: StaticPod, container: Container, { agentUser }: ProcessRules): string[] {
  const mounts = mountsOf(pod, container, '(emptyDir)')
  const problems = (container.volumeMounts ?? []).flatMap(
    ({ name, mountPath, subPath, mountPropagation }) => {
      if (mountPropagation && mountPropagation !== 'None')
        return [`volume ${name}: the runtime "process" has no mountPropagation ${mountPropagation}`]
      // What is below a volume belongs to who writes there: root must not follow a link that he put there.
      if (subPath && mounts.some(({ target }) => target === trimmed(mountPath)))
        return [`volume ${name}: subPath ${subPath} cannot be mounted; make it a hostPath of its own`]
      const volume = pod.spec.volumes?.find(volume => volume.name === name)
      if (volume?.downwardAPI)
        return [`volume ${name}: the runtime "process" has no downwardAPI volumes; use env`]
      return volume?.emptyDir?.medium
        ? [`volume ${name}: the runtime "process" has no emptyDir of this medium`]
        : []
    },
  )
  if (agentUser === 0) return problems
  return [
    ...problems,
    ...mounts.map(
      ({ source, target }) => `mountPath ${target}: without root a process sees ${source} only where it is`,
    ),
  ]
}

/** Names of the fields that ask for what a process does not get. */
function unenforced({ spec }: StaticPod, { securityContext, resources }: Container): string[] {
  const profile = (securityContext?.seccompProfile ?? spec.securityContext?.seccompProfile)?.type
  const asked: [string, boolean][] = [
    ['readOnlyRootFilesystem', securityContext?.readOnlyRootFilesystem === true],
    ['seccompProfile', profile !== undefined && profile !== 'Unconfined'],
    ['capabilities', (securityContext?.capabilities?.add ?? []).length > 0],
    ['capabilities', (securityContext?.capabilities?.drop ?? []).some(name => name !== 'ALL')],
    ['limits', Object.keys(resources?.limits ?? {}).length > 0],
  ]
  return [...new Set(asked.filter(([, holds]) => holds).map(([field]) => field))]
}
