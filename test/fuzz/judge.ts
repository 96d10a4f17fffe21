/** What an answer must be, whatever was asked. */
import type { ApiResponse } from '../../src/kube/transport.ts'

/** 5xx that kube-apiserver answers with to what a client did wrong. */
const intended = [/resourceVersion should not be set on objects to be created/, /Too large resource version/]

/** Why the answer (with its whole body, or the first chunks of a stream) is wrong, or undefined. */
export function complaint({ status, headers }: ApiResponse, body: string): string | undefined {
  if (!Number.isInteger(status) || status < 200 || status > 599) return `status ${status}`
  // The answer to a HEAD has no body that would say why.
  if (status >= 500 && body !== '' && !intended.some(text => text.test(body)))
    return `status ${status}: ${body.slice(0, 500)}`
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[a-z0-9-]+$/.test(name)) return `header name ${JSON.stringify(name)}`
    // What Node.js refuses to send.
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      return `header ${name}: ${JSON.stringify(value.slice(0, 200))}`
  }
  return headers['content-type'] === 'application/json' ? jsonComplaint(status, body) : undefined
}

function jsonComplaint(status: number, body: string): string | undefined {
  if (body === '') return undefined
  try {
    for (const line of body.trimEnd().split('\n')) {
      const value: unknown = JSON.parse(line)
      if (typeof value !== 'object' || value === null)
        return `a body that is no object: ${body.slice(0, 200)}`
      if (status >= 400 && (value as { kind?: unknown }).kind !== 'Status')
        return `a refusal that is no Status: ${body.slice(0, 200)}`
      if (status >= 400 && (value as { code?: unknown }).code !== status)
        return `a Status of another code: ${body.slice(0, 200)}`
    }
  } catch {
    return `a body that is no JSON: ${body.slice(0, 200)}`
  }
  return undefined
}
