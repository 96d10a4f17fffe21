import { parseQuantity } from '../manifest/quantity.ts'
import { annotations, type Container, type StaticPod } from '../pod.ts'
import { portProtocols, propagationMode } from './cri-types.ts'
import { isSeccompType } from './security.ts'

/**
 * Why a pod cannot run in a container runtime as its manifest says. What is asked for and not enforced is a refusal that
 * names the field, unless the manifest accepts it (annotation rollcall.dev/accept-unenforced).
 */
export function criRefusals(pod: StaticPod): string[] {
  const { spec, metadata } = pod
  const reasons: string[] = []
  const accepted = new Set(
    (metadata.annotations[annotations.unenforced] ?? '').split(',').map(name => name.trim()),
  )
  for (const { name, emptyDir, downwardAPI } of spec.volumes ?? []) {
    if (
      !spec.hostNetwork &&
      downwardAPI?.items?.some(({ fieldRef }) => fieldRef?.fieldPath === 'status.podIP')
    )
      reasons.push(`volume ${name}: status.podIP is not known before the volume is made; use env`)
    if (emptyDir?.medium && emptyDir.medium !== 'Memory')
      reasons.push(`volume ${name}: the medium ${emptyDir.medium} is not supported`)
    if (emptyDir?.sizeLimit !== undefined && emptyDir.medium !== 'Memory' && !accepted.has('sizeLimit'))
      reasons.push(
        `volume ${name}: sizeLimit: is not enforced; accept that with the annotation ${annotations.unenforced}: sizeLimit`,
      )
  }
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    const at = (why: string) => reasons.push(`container ${container.name}: ${why}`)
    const problems = [securityProblems, mountProblems].flatMap(find => find(pod, container))
    for (const why of [...problems, ...portProblems(container)]) at(why)
    for (const [field, why] of resourceProblems(container)) {
      if (field === undefined || !accepted.has(field)) at(why)
    }
  }
  return reasons
}

function securityProblems({ spec }: StaticPod, { securityContext: own }: Container): string[] {
  const problems: string[] = []
  const user = own?.runAsUser ?? spec.securityContext?.runAsUser
  if ((own?.runAsNonRoot ?? spec.securityContext?.runAsNonRoot) && user === 0)
    problems.push('runAsNonRoot: and runAsUser is 0')
  if (own?.privileged && own.allowPrivilegeEscalation === false)
    problems.push('allowPrivilegeEscalation: false, and it is privileged')
  const profile = own?.seccompProfile ?? spec.securityContext?.seccompProfile
  if (profile && !isSeccompType(profile.type))
    problems.push(`seccompProfile.type: ${profile.type} is none of RuntimeDefault, Unconfined, Localhost`)
  const { localhostProfile = '' } = profile ?? {}
  if (profile?.type === 'Localhost' && !/^(?!.*\.\.)[^/].*$/.test(localhostProfile))
    problems.push(`seccompProfile.localhostProfile: ${JSON.stringify(localhostProfile)} is no relative path`)
  return problems
}

function portProblems({ ports = [] }: Container): string[] {
  const names = portProtocols.join(', ')
  return ports.flatMap(({ protocol = 'TCP' }) =>
    portProtocols.includes(protocol) ? [] : [`ports: ${protocol} is none of ${names}`],
  )
}

function mountProblems({ spec }: StaticPod, container: Container): string[] {
  return (container.volumeMounts ?? []).flatMap(
    ({ name, subPath, mountPropagation: propagation = 'None' }) => {
      // What is below a volume belongs to who writes there: the runtime would follow a link that he put there.
      if (subPath)
        return [`volume ${name}: subPath ${subPath} cannot be mounted safely; make it a volume of its own`]
      if (!Object.hasOwn(propagationMode, propagation))
        return [
          `volume ${name}: mountPropagation ${propagation} is none of ${Object.keys(propagationMode).join(', ')}`,
        ]
      const isPrivileged = container.securityContext?.privileged ?? false
      if (propagation === 'Bidirectional' && !isPrivileged)
        return [`volume ${name}: mountPropagation Bidirectional needs a privileged container`]
      const volume = spec.volumes?.find(volume => volume.name === name)
      return volume ? [] : [`volume ${name}: there is no such volume`]
    },
  )
}

/** By the name with which the manifest can accept it; undefined: it cannot. */
function resourceProblems({ resources = {} }: Container): [field: string | undefined, why: string][] {
  const problems: [string | undefined, string][] = []
  for (const kind of ['limits', 'requests'] as const) {
    for (const [name, value] of Object.entries(resources[kind] ?? {})) {
      const at = `resources.${kind}[${name}]`
      if (parseQuantity(value) === undefined)
        problems.push([undefined, `${at}: ${JSON.stringify(value)} is no quantity`])
      else if (name === 'cpu' || name === 'memory') continue
      // A request of disk is for a scheduler, and there is none.
      else if (kind === 'requests' && name === 'ephemeral-storage') continue
      else
        problems.push([
          'limits',
          `${at}: is not enforced; accept that with the annotation ${annotations.unenforced}: limits`,
        ])
    }
  }
  return problems
}
