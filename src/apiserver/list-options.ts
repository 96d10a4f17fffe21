/** resourceVersion, resourceVersionMatch, limit and continue of a read: Kubernetes' table of what they mean together. */
import { flag } from './request-info.ts'
import { ApiError, apiError } from './wire/api-error.ts'
import { type FieldError, fieldError } from './wire/field-error.ts'

/** What a list shows. */
export interface ListOptions {
  limit?: number
  continue?: string
  /** `latest`: now. `notOlderThan`: now, but refused when that is older. `exact`: that state. */
  state: { kind: 'latest' } | { kind: 'notOlderThan' | 'exact'; revision: number }
}

const listOptionsKind = { group: 'meta.k8s.io', plural: 'listoptions', kind: 'ListOptions' }

function invalidOptions(errors: FieldError[]): void {
  if (errors.length > 0) throw apiError.invalid(listOptionsKind, '', errors)
}

/** Undefined when absent or `0`, which both mean whatever is at hand. Throws ApiError 400. */
export function resourceVersionOf(query: URLSearchParams): number | undefined {
  const value = query.get('resourceVersion') ?? ''
  if (value === '' || value === '0') return undefined
  if (!/^\d{1,15}$/.test(value))
    throw apiError.badRequest(
      `resourceVersion: Invalid value: ${JSON.stringify(value)}: strconv.ParseUint: parsing ${JSON.stringify(value)}: invalid syntax`,
    )
  return Number(value)
}

/** A count from the query; absent, 0 or less: undefined, as for Kubernetes. Throws ApiError 400. */
function countOf(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name)
  if (!value) return undefined
  const why = !/^[+-]?\d+$/.test(value)
    ? 'invalid syntax'
    : Number.isSafeInteger(Number(value))
      ? undefined
      : 'value out of range'
  if (why) throw apiError.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: ${why}`)
  return Number(value) > 0 ? Number(value) : undefined
}

/** Throws ApiError 400 or 422. */
export function listOptionsOf(query: URLSearchParams): ListOptions {
  const match = query.get('resourceVersionMatch') ?? ''
  const given = query.get('resourceVersion') ?? ''
  const token = query.get('continue') ?? ''
  invalidOptions(matchErrors(match, given, token))
  if (token && given !== '' && given !== '0')
    throw apiError.badRequest('specifying resource version is not allowed when using continue')
  const revision = resourceVersionOf(query)
  const limit = countOf(query, 'limit')
  const options = { ...(limit && { limit }), ...(token && { continue: token }) }
  if (revision === undefined) return { ...options, state: { kind: 'latest' } }
  // A page at a named version without a match is of exactly that version (the rule before resourceVersionMatch).
  const exact = match === 'Exact' || (match === '' && limit !== undefined)
  return { ...options, state: { kind: exact ? 'exact' : 'notOlderThan', revision } }
}

function matchErrors(match: string, given: string, token: string): FieldError[] {
  if (!match) return []
  const forbidden = (why: string) => [fieldError.forbidden('resourceVersionMatch', why)]
  if (given === '') return forbidden('resourceVersionMatch is forbidden unless resourceVersion is provided')
  if (token) return forbidden('resourceVersionMatch is forbidden when continue is provided')
  if (match !== 'Exact' && match !== 'NotOlderThan')
    return [fieldError.notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan'])]
  if (match === 'Exact' && given === '0')
    return forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
  return []
}

export interface WatchOptions {
  /** Undefined: begin with what is there. */
  after: number | undefined
  bookmarks: boolean
  /** WatchList (W-5): what is there as ADDED, then a bookmark that says so; false: only what comes. */
  sendInitialEvents: boolean | undefined
  timeoutSeconds: number | undefined
}

/** Throws ApiError 400 or 422. */
export function watchOptionsOf(query: URLSearchParams): WatchOptions {
  const sendInitialEvents = query.get('sendInitialEvents')
  const match = query.get('resourceVersionMatch') ?? ''
  if (sendInitialEvents !== null && match !== 'NotOlderThan')
    invalidOptions([
      fieldError.forbidden(
        'resourceVersionMatch',
        'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ),
    ])
  if (sendInitialEvents === null && match)
    invalidOptions([
      fieldError.forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    ])
  return {
    after: resourceVersionOf(query),
    bookmarks: flag(query, 'allowWatchBookmarks'),
    sendInitialEvents: sendInitialEvents === null ? undefined : flag(query, 'sendInitialEvents'),
    timeoutSeconds: countOf(query, 'timeoutSeconds'),
  }
}

/** The answer to a version that is not there yet; the client is to come again. */
export function tooLargeResourceVersion(asked: number, current: number): ApiError {
  return new ApiError(504, 'Timeout', `Too large resource version: ${asked}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  })
}
