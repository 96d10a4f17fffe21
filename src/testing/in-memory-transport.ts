import type { ApiRequest, ApiResponse, Transport } from '../kube/transport.ts'

export interface InMemoryTransport extends Transport {
  /** All requests so far, in order. */
  readonly requests: ApiRequest[]
  closed: number
}

/** A Transport that is a function call. */
export function inMemoryTransport(
  answer: (request: ApiRequest, index: number) => ApiResponse | Promise<ApiResponse>,
): InMemoryTransport {
  const requests: ApiRequest[] = []
  return {
    requests,
    closed: 0,
    async request(request) {
      requests.push(request)
      return answer(request, requests.length - 1)
    },
    closeConnections() {
      this.closed++
    },
  }
}

/** An answer with a JSON body. */
export function json(status: number, body: unknown): ApiResponse {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    body: new TextEncoder().encode(JSON.stringify(body)),
  }
}

/** The metav1.Status a Kubernetes API refuses with. */
export function refusal(code: number, reason: string, message = reason): ApiResponse {
  return json(code, {
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    reason,
    message,
    code,
  })
}
