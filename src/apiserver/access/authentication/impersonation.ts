import type { UserInfo } from '../../../kube/types.ts'
import type { Attributes } from '../access.ts'
import {
  anonymousUserName,
  serviceAccountUserName,
  splitServiceAccountUserName,
  systemGroups,
} from '../system-identities.ts'
import type { ImpersonationRequest } from './impersonation-headers.ts'

const authentication = { group: 'authentication.k8s.io', version: 'v1' }
const core = { group: '', version: 'v1' }

/** Every right that the requestor needs for this impersonation, one for each user, group, extra value and uid. */
export function impersonationRights(wanted: ImpersonationRequest, requestor: UserInfo): Attributes[] {
  const impersonate = (what: Omit<Attributes, 'user' | 'verb'>): Attributes => ({
    user: requestor,
    verb: 'impersonate',
    ...what,
  })
  const account = splitServiceAccountUserName(wanted.user)
  return [
    account
      ? impersonate({ ...core, resource: 'serviceaccounts', ...account })
      : impersonate({ ...core, resource: 'users', name: wanted.user }),
    ...wanted.groups.map(name => impersonate({ ...core, resource: 'groups', name })),
    ...[...wanted.extra].flatMap(([subresource, values]) =>
      values.map(name => impersonate({ ...authentication, resource: 'userextras', subresource, name })),
    ),
    ...(wanted.uid === '' ? [] : [impersonate({ ...authentication, resource: 'uids', name: wanted.uid })]),
  ]
}

/**
 * The user that results. Groups are exactly those asked for, except that a ServiceAccount without any gets its fixed
 * ones, and that `system:authenticated` (for the anonymous user `system:unauthenticated`) is added unless told.
 */
export function impersonatedUser(wanted: ImpersonationRequest): UserInfo {
  const account = splitServiceAccountUserName(wanted.user)
  const groups = [...wanted.groups]
  if (account && groups.length === 0) {
    groups.push(systemGroups.serviceAccounts, `${systemGroups.serviceAccounts}:${account.namespace}`)
  }
  const { authenticated, unauthenticated } = systemGroups
  if (wanted.user === anonymousUserName) {
    if (!groups.includes(unauthenticated)) groups.push(unauthenticated)
  } else if (!groups.includes(authenticated) && !groups.includes(unauthenticated)) groups.push(authenticated)
  return {
    username: account ? serviceAccountUserName(account.namespace, account.name) : wanted.user,
    ...(wanted.uid !== '' && { uid: wanted.uid }),
    groups,
    ...(wanted.extra.size > 0 && { extra: Object.fromEntries(wanted.extra) }),
  }
}
