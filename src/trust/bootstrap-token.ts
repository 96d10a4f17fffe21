/** What a Secret of type bootstrap.kubernetes.io/token says. */
import { Secret } from '../keys/secret.ts'
import type { Secret as KubeSecret } from '../kube/types.ts'

/** The type of the Secrets in kube-system that are bootstrap tokens. */
export const bootstrapTokenType = 'bootstrap.kubernetes.io/token'

/** Name of the Secret in kube-system that holds the token with this id. */
export function bootstrapTokenSecretName(id: string): string {
  return `bootstrap-token-${id}`
}

/** Milliseconds since the epoch; undefined: never; 0 for what cannot be read, which counts as expired (C-60). */
export function tokenExpiry(secret: KubeSecret): number | undefined {
  const text = dataOf(secret, 'expiration')
  if (text === '') return undefined
  const wellFormed = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text)
  const time = wellFormed ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? 0 : time
}

/** The token where it may sign cluster-info at `now` (milliseconds since the epoch), else undefined (C-61). */
export function signingToken(secret: KubeSecret, now: number): { id: string; key: Secret } | undefined {
  const id = /^bootstrap-token-([a-z0-9]{6})$/.exec(secret.metadata.name)?.[1]
  const key = dataOf(secret, 'token-secret')
  const expiry = tokenExpiry(secret)
  const usable =
    secret.type === bootstrapTokenType &&
    id !== undefined &&
    dataOf(secret, 'token-id') === id &&
    key !== '' &&
    (expiry === undefined || expiry > now) &&
    dataOf(secret, 'usage-bootstrap-signing') === 'true'
  return usable ? { id, key: new Secret(key) } : undefined
}

function dataOf(secret: KubeSecret, key: string): string {
  return Buffer.from(secret.data?.[key] ?? '', 'base64').toString('utf8')
}
