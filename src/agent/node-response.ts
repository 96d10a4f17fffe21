import type { ApiResponse } from '../kube/transport.ts'

/** What a kubelet answers in plain text. */
export function plainText(status: number, body: string, parameters = ''): ApiResponse {
  return {
    status,
    headers: {
      'content-type': `text/plain${parameters}; charset=utf-8`,
      'x-content-type-options': 'nosniff',
    },
    body: new TextEncoder().encode(body),
  }
}
