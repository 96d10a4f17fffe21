import { RollcallError } from '../errors.ts'
import type { ApiRequest, ApiResponse, Peer, Transport } from '../kube/transport.ts'
import type { Api } from './api.ts'

/**
 * A Transport that calls the API in this process: no sockets, no TLS. Authentication, authorization and admission apply
 * as to anybody: `peer` and `headers` (e.g. authorization) say who calls.
 */
export function inProcessTransport(api: Api, peer: Peer, headers: Record<string, string> = {}): Transport {
  const streams = new Set<() => void>()

  async function request(request: ApiRequest): Promise<ApiResponse> {
    if (request.signal?.aborted) throw aborted(request)
    const response = await api.handle({ ...request, headers: { ...headers, ...request.headers } }, peer)
    const stream = response.body instanceof Uint8Array ? undefined : response.body
    if (request.signal?.aborted) {
      await stream?.[Symbol.asyncIterator]().return?.()
      throw aborted(request)
    }
    if (!stream) return response
    return { ...response, body: closable(stream, streams) }
  }

  return {
    request,
    closeConnections() {
      for (const end of streams) end()
    },
  }
}

/** The stream, which also ends when the transport closes its connections. */
function closable(body: AsyncIterable<Uint8Array>, streams: Set<() => void>): AsyncIterable<Uint8Array> {
  const source = body[Symbol.asyncIterator]()
  const end = () => {
    streams.delete(end)
    void source.return?.()
  }
  streams.add(end)
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const result = await source.next()
      if (result.done) streams.delete(end)
      return result
    },
    async return() {
      end()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

const aborted = ({ method, url, signal }: ApiRequest) =>
  new RollcallError(
    'API_UNREACHABLE',
    `${method} ${url}: the request was aborted`,
    {},
    { cause: signal?.reason },
  )
