import { RollcallError } from '../errors.ts'
import type { ApiRequest, ApiResponse, Peer, Transport } from '../kube/transport.ts'
import type { Api } from './api.ts'

/**
 * A Transport that calls the API in this process: no sockets, no TLS. Authentication, authorization and admission apply
 * as to anybody: `peer` and `headers` (e.g. authorization) say who calls. `values`: objects go in and come out as they
 * are, so this is for programs that make them, not for who passes on what others sent.
 */
export function inProcessTransport(
  api: Api,
  peer: Peer,
  headers: Record<string, string> = {},
  { values = false } = {},
): Transport {
  const streams = new Set<() => void>()

  async function request(request: ApiRequest): Promise<ApiResponse> {
    if (request.signal?.aborted) throw aborted(request)
    const response = await api.handle({ ...request, headers: { ...headers, ...request.headers } }, peer)
    const { events } = response
    const stream = events ?? (response.body instanceof Uint8Array ? undefined : response.body)
    if (request.signal?.aborted) {
      await stream?.[Symbol.asyncIterator]().return?.()
      throw aborted(request)
    }
    if (events) return { ...response, events: closable(events, streams) }
    if (response.body instanceof Uint8Array) return response
    return { ...response, body: closable(response.body, streams) }
  }

  return {
    ...(values && { values }),
    request,
    closeConnections() {
      for (const end of streams) end()
    },
  }
}

/** The stream, which also ends when the transport closes its connections. */
function closable<T>(body: AsyncIterable<T>, streams: Set<() => void>): AsyncIterable<T> {
  const source = body[Symbol.asyncIterator]()
  const end = () => {
    streams.delete(end)
    void source.return?.()
  }
  streams.add(end)
  const iterator: AsyncIterator<T> = {
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
