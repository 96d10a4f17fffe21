import type { Secret, UserInfo } from '../../../kube/types.ts'
import { resources } from '../../../kube/types.ts'
import type { Log } from '../../../ports.ts'
import type { ObjectReader } from '../../reader.ts'
import { apiError } from '../../wire/api-error.ts'
import { anonymous } from '../system-identities.ts'
import { type Authentication, noCredential } from './authentication.ts'
import { bearerToken } from './bearer-token.ts'
import { bootstrapTokenSecretName, judgeBootstrapToken, parseBootstrapToken } from './bootstrap-token.ts'

/** The user of a bearer token, or why there is none. `now` in milliseconds since the epoch. */
export function authenticateToken(
  token: string,
  reader: ObjectReader,
  now: number,
): { ok: true; user: UserInfo } | { ok: false; reason: string } {
  const parsed = parseBootstrapToken(token)
  if (!parsed) return { ok: false, reason: 'not in the form of a bootstrap token' }
  const object = reader.get<Secret>(resources.secrets, bootstrapTokenSecretName(parsed.id), 'kube-system')
  const verdict = judgeBootstrapToken(parsed, object, now)
  return verdict.ok ? verdict : { ok: false, reason: `bootstrap token ${parsed.id}: ${verdict.reason}` }
}

/** Bearer authentication of a request; an unknown token is an error, so that it does not pass as anonymous. */
export function authenticateBearer(
  authorization: string | undefined,
  reader: ObjectReader,
  now: number,
): Authentication {
  const token = bearerToken(authorization)
  if (token === undefined) return noCredential
  const found = authenticateToken(token, reader, now)
  return found.ok
    ? { outcome: 'user', user: found.user }
    : { outcome: 'error', reason: `invalid bearer token: ${found.reason}` }
}

/**
 * The first user of the ways in their order, else anonymous. One bad credential is forgiven when a later one is good; if
 * none is, the request is refused and never becomes anonymous. Throws ApiError 401.
 */
export function firstUser(ways: readonly (() => Authentication)[], log: Log): UserInfo {
  const reasons: string[] = []
  for (const way of ways) {
    const found = way()
    if (found.outcome === 'user') return found.user
    if (found.outcome === 'error') reasons.push(found.reason)
  }
  if (reasons.length === 0) return anonymous
  log.warn('Unable to authenticate the request', { reasons })
  throw apiError.unauthorized()
}
