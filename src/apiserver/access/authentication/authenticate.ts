import type { Secret, UserInfo } from '../../../kube/types.ts'
import { resources } from '../../../kube/types.ts'
import type { Log } from '../../../ports.ts'
import { bootstrapTokenSecretName } from '../../../trust/bootstrap-token.ts'
import type { ObjectReader } from '../../reader.ts'
import { apiError } from '../../wire/api-error.ts'
import type { TokenVerdict } from '../access.ts'
import { anonymous } from '../system-identities.ts'
import { type Authentication, noCredential } from './authentication.ts'
import { bearerToken } from './bearer-token.ts'
import { judgeBootstrapToken, parseBootstrapToken } from './bootstrap-token.ts'
import { judgeClaims } from './service-account/judge-claims.ts'
import type { TokenIssuer } from './service-account/token-issuer.ts'

export interface TokenAuthenticator {
  reader: ObjectReader
  /** Absent: service account tokens are unknown tokens. */
  issuer?: TokenIssuer | undefined
}

const unknown = 'invalid bearer token'

/** The user of a bearer token, or why there is none. `now` in milliseconds since the epoch. */
export function authenticateToken(
  token: string,
  { reader, issuer }: TokenAuthenticator,
  now: number,
  audiences?: readonly string[],
): TokenVerdict & { detail?: string } {
  const own = issuer?.audiences ?? []
  const verified = issuer?.verify(token)
  if (verified && (verified.ok || !verified.foreign)) {
    const verdict = verified.ok ? judgeClaims(verified.claims, audiences ?? own, reader, now) : verified
    if (verdict.ok) return verdict
    return { ok: false, reason: `[${unknown}, ${verdict.reason}]`, detail: verdict.reason }
  }
  // Bootstrap tokens are meant for the API server and nobody else.
  const meant = audiences === undefined ? own : own.filter(audience => audiences.includes(audience))
  if (audiences !== undefined && own.length > 0 && meant.length === 0)
    return { ok: false, reason: unknown, detail: 'a token of the API server for another audience' }
  const verdict = authenticateBootstrapToken(token, reader, now)
  return verdict.ok
    ? { ok: true, user: verdict.user, audiences: meant }
    : { ok: false, reason: unknown, detail: verdict.reason }
}

function authenticateBootstrapToken(
  token: string,
  reader: ObjectReader,
  now: number,
): { ok: true; user: UserInfo } | { ok: false; reason: string } {
  const parsed = parseBootstrapToken(token)
  if (!parsed) return { ok: false, reason: 'not in the form of a known token' }
  const object = reader.get<Secret>(resources.secrets, bootstrapTokenSecretName(parsed.id), 'kube-system')
  const verdict = judgeBootstrapToken(parsed, object, now)
  return verdict.ok ? verdict : { ok: false, reason: `bootstrap token ${parsed.id}: ${verdict.reason}` }
}

/** Bearer authentication of a request; an unknown token is an error, so that it does not pass as anonymous. */
export function authenticateBearer(
  authorization: string | undefined,
  tokens: TokenAuthenticator,
  now: number,
): Authentication {
  const token = bearerToken(authorization)
  if (token === undefined) return noCredential
  const found = authenticateToken(token, tokens, now)
  return found.ok
    ? { outcome: 'user', user: found.user }
    : { outcome: 'error', reason: `invalid bearer token: ${found.detail ?? found.reason}` }
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
