import type { UserInfo } from '../../kube/types.ts'
import type { Identity } from '../access/access.ts'
import type { Level } from './limits.ts'

/** Who a request is counted for. */
export interface Flow {
  level: Level
  /** Unique within the level. */
  name: string
}

const nodePrefix = 'system:node:'
const bootstrapPrefix = 'system:bootstrap:'
/** Members and users that run the cluster: a client out of order must not get in their way. */
const controlPlaneGroups = ['system:masters', 'kubeadm:cluster-admins', 'rollcall:controllers']
const controlPlaneUsers = ['system:kube-controller-manager', 'system:kube-scheduler', 'system:apiserver']

/** The real user counts, not the impersonated one: who may impersonate could otherwise spend everybody's share. */
export function flowOf({ user, impersonatedBy }: Identity): Flow {
  const { username, groups } = impersonatedBy ?? user
  return { level: levelOf(username, groups), name: username }
}

function levelOf(username: string, groups: UserInfo['groups']): Level {
  if (controlPlaneUsers.includes(username) || controlPlaneGroups.some(group => groups.includes(group)))
    return 'control-plane'
  if (username.startsWith(nodePrefix) && groups.includes('system:nodes')) return 'node'
  if (username.startsWith(bootstrapPrefix) && groups.includes('system:bootstrappers')) return 'bootstrap'
  return 'other'
}
