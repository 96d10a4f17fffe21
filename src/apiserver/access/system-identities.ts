import type { UserInfo } from '../../kube/types.ts'

/** Names of users and groups that Kubernetes itself gives a meaning. */
export const systemGroups = {
  masters: 'system:masters',
  authenticated: 'system:authenticated',
  unauthenticated: 'system:unauthenticated',
  nodes: 'system:nodes',
  bootstrappers: 'system:bootstrappers',
  serviceAccounts: 'system:serviceaccounts',
} as const

export const nodeUserPrefix = 'system:node:'
export const bootstrapUserPrefix = 'system:bootstrap:'
const serviceAccountUserPrefix = 'system:serviceaccount:'
export const anonymousUserName = 'system:anonymous'

/** Users are shared between requests and caches, so nobody may change one. */
function frozen(user: UserInfo): UserInfo {
  Object.freeze(user.groups)
  if (user.extra) for (const values of Object.values(user.extra)) Object.freeze(values)
  Object.freeze(user.extra)
  return Object.freeze(user)
}

/** Who sent no credential at all. */
export const anonymous: UserInfo = frozen({
  username: anonymousUserName,
  groups: [systemGroups.unauthenticated],
})

/** The user with `system:authenticated` appended last, as after any successful authentication. */
export function authenticatedUser(user: UserInfo): UserInfo {
  const told =
    user.username === anonymousUserName ||
    user.groups.includes(systemGroups.authenticated) ||
    user.groups.includes(systemGroups.unauthenticated)
  return frozen({ ...user, groups: told ? [...user.groups] : [...user.groups, systemGroups.authenticated] })
}

/** `system:serviceaccount:NAMESPACE:NAME`, the user that a ServiceAccount is. */
export function serviceAccountUserName(namespace: string, name: string): string {
  return `${serviceAccountUserPrefix}${namespace}:${name}`
}

const label = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/
const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

/** Namespace and name of a ServiceAccount's user name, or undefined where it is another user. */
export function splitServiceAccountUserName(
  username: string,
): { namespace: string; name: string } | undefined {
  if (!username.startsWith(serviceAccountUserPrefix)) return undefined
  const [namespace = '', name = '', ...more] = username.slice(serviceAccountUserPrefix.length).split(':')
  if (more.length > 0 || !label.test(namespace) || name.length > 253 || !subdomain.test(name))
    return undefined
  return { namespace, name }
}
