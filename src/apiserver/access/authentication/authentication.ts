import type { UserInfo } from '../../../kube/types.ts'

/**
 * What one way to authenticate says about a request: who it is; nothing, because no credential of its kind is there; or
 * that the credential is bad. The reason is for the log only: the client sees `Unauthorized`.
 */
export type Authentication =
  | { outcome: 'user'; user: UserInfo }
  | { outcome: 'none' }
  | { outcome: 'error'; reason: string }

export const noCredential: Authentication = { outcome: 'none' }
