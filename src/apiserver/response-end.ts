import type { ApiResponse } from '../kube/transport.ts'
import { WatchStream } from './watch/watch-stream.ts'

/** The answer to a HEAD: a stream that would follow is ended. */
export async function withoutBody(response: ApiResponse): Promise<ApiResponse> {
  if (!(response.body instanceof Uint8Array)) await response.body[Symbol.asyncIterator]().return?.()
  return { ...response, body: new Uint8Array() }
}

/** Calls `done` once when the answer is complete: at once, or when its stream is over. */
export function whenComplete(response: ApiResponse, done: () => void): ApiResponse {
  const { body, events, takeOver } = response
  if (takeOver) {
    return {
      ...response,
      takeOver(connection, head) {
        if (connection.destroyed) done()
        else connection.once('close', done)
        takeOver(connection, head)
      },
    }
  }
  const stream = events ?? body
  if (stream instanceof WatchStream) {
    stream.onOver = done
    return response
  }
  if (events) return { ...response, events: ending(events, done) }
  if (!(body instanceof Uint8Array)) return { ...response, body: ending(body, done) }
  done()
  return response
}

/** The stream, which calls `done` once when it is over. */
function ending<T>(stream: AsyncIterable<T>, done: () => void): AsyncIterable<T> {
  const source = stream[Symbol.asyncIterator]()
  let over = false
  const finish = () => {
    if (!over) done()
    over = true
  }
  const iterator: AsyncIterator<T> = {
    async next() {
      const result = await source.next()
      if (result.done) finish()
      return result
    },
    async return() {
      await source.return?.()
      finish()
      return { done: true, value: undefined }
    },
  }
  return { [Symbol.asyncIterator]: () => iterator }
}
