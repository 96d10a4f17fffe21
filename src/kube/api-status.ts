import { RollcallError } from '../errors.ts'
import type { Status } from './types.ts'

/** An answer of the API that is an error; `status` is its metav1.Status. */
export class ApiStatusError extends RollcallError {
  readonly status: Status

  constructor(status: Status, action?: string) {
    const { code, reason, message } = status
    const what = `${message || 'no message'} (${code}${reason ? ` ${reason}` : ''})`
    super('API_STATUS', action ? `${action}: ${what}` : what, { code, reason })
    this.name = 'ApiStatusError'
    this.status = status
  }
}

/** Whether `error` is an answer with this metav1.StatusReason, e.g. `NotFound`, `Conflict`, `AlreadyExists`. */
export function isStatus(error: unknown, reason: string): error is ApiStatusError {
  return error instanceof ApiStatusError && error.status.reason === reason
}

/** Whether the version or the page asked for is too old for the server: list anew. */
export function isExpired(error: unknown): boolean {
  return error instanceof ApiStatusError && error.status.code === 410
}

/** Where the rest of a list whose pages expired goes on, with what is there now; undefined: the server does not say. */
export function continueAfter(error: unknown): string | undefined {
  const next =
    isExpired(error) && error instanceof ApiStatusError ? error.status.metadata.continue : undefined
  return typeof next === 'string' && next !== '' ? next : undefined
}

/** Whether nothing new can be made in that namespace because it goes away; trying again would be in vain. */
export function isNamespaceTerminating(error: unknown): boolean {
  return (
    error instanceof ApiStatusError &&
    (error.status.details?.causes?.some(cause => cause.reason === 'NamespaceTerminating') ?? false)
  )
}

/** The reasons of answers that carry no Status of their own (a proxy's, a load balancer's), as client-go names them. */
const reasons: Record<number, string> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

/** The Status in the body of an answer with this HTTP status, or one made from what is there. */
export function statusOf(code: number, body: string): Status {
  try {
    const parsed: unknown = JSON.parse(body)
    if (parsed && typeof parsed === 'object' && 'kind' in parsed && parsed.kind === 'Status') {
      return { code, ...parsed } as Status
    }
  } catch {
    // Not JSON: the text itself is the message.
  }
  const reason = reasons[code]
  return {
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    message: body.trim().slice(0, 500) || 'the server gave no message',
    ...(reason && { reason }),
    code,
  }
}
