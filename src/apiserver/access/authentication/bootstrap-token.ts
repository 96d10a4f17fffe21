/** Bootstrap tokens: a Secret in kube-system is the whole record of one. */
import type { Secret, UserInfo } from '../../../kube/types.ts'
import { bootstrapTokenType } from '../../../trust/bootstrap-token.ts'
import { authenticatedUser, bootstrapUserPrefix, systemGroups } from '../system-identities.ts'

const tokenForm = /^([a-z0-9]{6})\.([a-z0-9]{16})$/
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

/** Id and secret part of a token in the form of a bootstrap token; undefined for any other token. */
export function parseBootstrapToken(token: string): { id: string; secret: string } | undefined {
  const [, id, secret] = tokenForm.exec(token) ?? []
  return id !== undefined && secret !== undefined ? { id, secret } : undefined
}

export type BootstrapTokenVerdict = { ok: true; user: UserInfo } | { ok: false; reason: string }

const refused = (reason: string): BootstrapTokenVerdict => ({ ok: false, reason })

/** What a Secret says; read once for each of its versions, as a storm of joining nodes presents the same token. */
interface TokenRecord {
  /** Why it is no token. */
  wrong?: string
  secret: string
  id: string
  /** Milliseconds since the epoch; absent: never. NaN: it cannot be read. */
  expiration?: number
  /** Why it lets nobody in, else as whom. */
  user: UserInfo | string
}
const records = new WeakMap<Secret, TokenRecord>()

function recordOf(object: Secret): TokenRecord {
  let record = records.get(object)
  if (!record) {
    record = readRecord(object)
    records.set(object, record)
  }
  return record
}

function readRecord(object: Secret): TokenRecord {
  const value = (key: string) => Buffer.from(object.data?.[key] ?? '', 'base64').toString()
  const [secret, id] = [value('token-secret'), value('token-id')]
  const expiration = expirationOf(value('expiration'))
  const read = { secret, id, ...(expiration !== undefined && { expiration }), user: userOf(id, value) }
  if (object.metadata.deletionTimestamp)
    return { ...read, wrong: 'the Secret is deleted and awaiting removal' }
  if (object.type !== bootstrapTokenType || !object.data)
    return { ...read, wrong: `the Secret is not of type ${bootstrapTokenType}` }
  return read
}

function userOf(id: string, value: (key: string) => string): UserInfo | string {
  if (value('usage-bootstrap-authentication') !== 'true')
    return 'not marked usage-bootstrap-authentication=true'
  const extra = value('auth-extra-groups')
  const groups = extra === '' ? [] : extra.split(',')
  const bad = groups.find(group => !groupForm.test(group))
  if (bad !== undefined) return `auth-extra-groups: ${bad} is not a bootstrap group`
  return authenticatedUser({
    username: bootstrapUserPrefix + id,
    groups: [...new Set([systemGroups.bootstrappers, ...groups])].sort(),
  })
}

/**
 * Whether the Secret lets the token in, and as whom. `now` in milliseconds since the epoch. Reasons hold no secret; a
 * refusal is no opinion in Kubernetes, so the client sees 401 like for any unknown token.
 */
export function judgeBootstrapToken(
  token: { id: string; secret: string },
  object: Secret | undefined,
  now: number,
): BootstrapTokenVerdict {
  if (!object) return refused('no Secret of this token')
  const { wrong, secret, id, expiration, user } = recordOf(object)
  if (wrong !== undefined) return refused(wrong)
  if (!sameInConstantTime(secret, token.secret)) return refused('token-secret differs')
  if (id !== token.id) return refused('token-id differs')
  if (expiration !== undefined && !(expiration > now)) return refused('the token has expired')
  return typeof user === 'string' ? refused(user) : { ok: true, user }
}

/** Compares every character whatever differs first; `expected` has a length that everybody knows. */
function sameInConstantTime(given: string, expected: string): boolean {
  let difference = given.length ^ expected.length
  for (let at = 0; at < expected.length; at++)
    difference |= (given.charCodeAt(at) | 0) ^ expected.charCodeAt(at)
  return difference === 0
}

const rfc3339 =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Milliseconds since the epoch; undefined: it never expires; NaN: what cannot be read has expired. */
function expirationOf(expiration: string): number | undefined {
  if (expiration === '') return undefined
  const [, year, month, day] = rfc3339.exec(expiration) ?? []
  const inMonth = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCMonth()
  return year === undefined || inMonth !== Number(month) - 1 ? Number.NaN : Date.parse(expiration)
}
