import type { UserInfo } from '../../../kube/types.ts'
import { nodeUserPrefix, systemGroups } from '../system-identities.ts'

/** The node's name ('' for `system:node:` alone), or undefined for who is no node: name and group must both say so. */
export function nodeIdentity(user: UserInfo): string | undefined {
  if (!user.username.startsWith(nodeUserPrefix) || !user.groups.includes(systemGroups.nodes)) return undefined
  return user.username.slice(nodeUserPrefix.length)
}
