import type { Played } from '../play.ts'

/** Reasons of Kubernetes (apimachinery/pkg/apis/meta/v1). */
const reasons: Readonly<Record<number, readonly (string | undefined)[]>> = {
  400: ['BadRequest'],
  401: ['Unauthorized'],
  403: ['Forbidden'],
  404: ['NotFound'],
  405: ['MethodNotAllowed'],
  406: ['NotAcceptable'],
  409: ['AlreadyExists', 'Conflict'],
  410: ['Expired', 'Gone'],
  413: ['RequestEntityTooLarge'],
  415: ['UnsupportedMediaType'],
  422: ['Invalid'],
  429: ['TooManyRequests'],
  // `resourceVersion should not be set on objects to be created` is one without.
  500: [undefined, 'InternalError'],
  503: ['ServiceUnavailable'],
  504: ['Timeout'],
}

interface StatusBody {
  kind?: string
  apiVersion?: string
  status?: string
  message?: string
  reason?: string
  code?: number
}

/** Every refusal is a Status that says what the answer's own status says; every success is an object. */
export function wellFormed({ answer }: Played): string[] {
  if (!answer) return []
  const { status, body, headers } = answer
  if (status >= 500 && status !== 504 && !(status === 500 && /should not be set/.test(JSON.stringify(body))))
    return [`status ${status}: ${JSON.stringify(body)}`]
  if (!/^application\/json/.test(headers['content-type'] ?? '')) return plainText(status, body)
  if (status < 400) return []
  const told = Object(body) as StatusBody
  const wrong: string[] = []
  if (told.kind !== 'Status' || told.apiVersion !== 'v1') wrong.push('a refusal that is no Status')
  if (told.status !== 'Failure') wrong.push(`a refusal with status ${told.status}`)
  if (told.code !== status) wrong.push(`code ${told.code} in an answer ${status}`)
  if (!told.message) wrong.push('a refusal without a message')
  if (!reasons[status]?.includes(told.reason)) wrong.push(`reason ${told.reason} in an answer ${status}`)
  return wrong
}

/** Of paths that are no resource. */
const plainText = (status: number, body: unknown) =>
  (status === 404 && body === '404 page not found\n') || (status === 200 && body === 'ok')
    ? []
    : [`${status} with the text ${JSON.stringify(body)}`]
