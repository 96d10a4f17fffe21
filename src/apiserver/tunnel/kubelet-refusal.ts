import { ApiError, apiError } from '../wire/api-error.ts'

const texts: Readonly<Record<number, [reason: string, message: string]>> = {
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: [
    'Timeout',
    'the server was unable to return a response in the time allotted, but may still be processing the request',
  ],
}

/** What kube-apiserver answers for `pods/log` when the kubelet refuses; `text` is the kubelet's own. */
export function logRefusal(status: number, pod: string, text: string): ApiError {
  if (status === 500) return apiError.internal(text)
  if (status === 400) return apiError.badRequest(text)
  const about = ` ( pods/log ${pod})`
  const details = {
    name: pod,
    kind: 'pods/log',
    causes: [{ reason: 'UnexpectedServerResponse', message: text }],
  }
  if (status === 403) return new ApiError(403, 'Forbidden', `${text}${about}`, details)
  const [reason, message] = texts[status] ?? [
    status > 500 ? 'InternalError' : undefined,
    status > 500
      ? `an error on the server (${JSON.stringify(text || 'unknown')}) has prevented the request from succeeding`
      : 'the server responded with the status code but did not return more information',
  ]
  return new ApiError(status, reason, `${message}${about}`, details)
}
