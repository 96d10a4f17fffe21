import { commandLineOf, environmentOf, type NodeFacts } from '../environment.ts'
import type { Container, StaticPod } from '../pod.ts'
import { mountPrefix, mountsOf } from './mounts.ts'
import { userOf } from './process-rules.ts'

/** Where programs are looked for that the manifest names without a path. */
const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** util-linux, essential in Debian. */
const setpriv = '/usr/bin/setpriv'

export interface ProcessCommand {
  /** Put before what is run: mounts its volumes, gives up rights. */
  prefix: string[]
  command: string[]
  environment: Record<string, string>
  directory: string
}

/** The command line of a container and what it runs in: a clean environment, its user, no more rights than asked for. */
export function processCommand(
  pod: StaticPod,
  container: Container,
  facts: NodeFacts & { agentUser: number; volumesRoot: string },
): ProcessCommand {
  const declared = environmentOf(container, pod, facts)
  const environment = { PATH: defaultPath, HOSTNAME: facts.nodeName, ...declared }
  return {
    prefix: [
      ...mountPrefix(mountsOf(pod, container, facts.volumesRoot)),
      ...rightsPrefix(pod, container, facts.agentUser),
    ],
    command: commandLineOf(container, declared),
    environment,
    directory: container.workingDir ?? '/',
  }
}

function rightsPrefix(pod: StaticPod, container: Container, agentUser: number): string[] {
  const { user, group, groups } = userOf(pod, container, agentUser)
  const security = container.securityContext
  const options: string[] = []
  if (user !== agentUser) {
    options.push(`--reuid=${user}`, `--regid=${group}`)
    options.push(groups.length > 0 ? `--groups=${groups.join(',')}` : '--clear-groups')
  }
  const dropsAll = security?.capabilities?.drop?.includes('ALL') ?? false
  if (agentUser === 0 && (user !== 0 || dropsAll)) options.push('--inh-caps=-all', '--bounding-set=-all')
  if (user !== agentUser || security?.allowPrivilegeEscalation === false) options.push('--no-new-privs')
  return options.length === 0 ? [] : [setpriv, ...options, '--']
}
