import { errorKinds, RollcallError } from '../errors.ts'
import type { ApiResponse } from '../kube/transport.ts'
import type { Status } from '../kube/types.ts'
import { ApiError } from './wire/api-error.ts'

const encoder = new TextEncoder()

export const jsonHeaders: Readonly<Record<string, string>> = {
  'content-type': 'application/json',
  'cache-control': 'no-cache, private',
}

export function json(status: number, body: unknown): ApiResponse {
  return jsonBytes(status, encoder.encode(`${JSON.stringify(body)}\n`))
}

const noBody = new Uint8Array()

/** For a caller in this process that wants values; it gets the object for its own. */
export function valueAnswer(status: number, value: object): ApiResponse {
  return { status, headers: { ...jsonHeaders }, body: noBody, value }
}

/** `body` is JSON already. */
export function jsonBytes(status: number, body: Uint8Array): ApiResponse {
  return { status, headers: { ...jsonHeaders }, body }
}

export function text(status: number, body: string): ApiResponse {
  return {
    status,
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-cache, private',
    },
    body: encoder.encode(body),
  }
}

/** What net/http answers to a path that nobody serves. */
export const pageNotFound = () => text(404, '404 page not found\n')

/** What kube-apiserver's fairness filter answers: plain text, no Status. */
export function tooManyRequests(retryAfterSeconds: number): ApiResponse {
  const response = text(429, 'Too many requests, please try again later.\n')
  response.headers['retry-after'] = String(retryAfterSeconds)
  return response
}

/**
 * The Status that an error is answered with. An error that is not meant for clients becomes a plain 500: its message
 * may hold anything, so only the log gets it.
 */
export function statusOf(error: unknown): Status {
  if (error instanceof ApiError) return error.status
  if (error instanceof RollcallError) {
    const { status, reason } = errorKinds[error.code]
    if (status) return new ApiError(status, reason, error.message).status
  }
  return new ApiError(500, 'InternalError', 'Internal error occurred').status
}

export function statusResponse(status: Status): ApiResponse {
  const response = json(status.code, status)
  const wait = status.details?.retryAfterSeconds
  if (wait) response.headers['retry-after'] = String(wait)
  return response
}
