import type { ApiResponse } from '../kube/transport.ts'

/** The answer to a HEAD: a stream that would follow is ended. */
export async function withoutBody(response: ApiResponse): Promise<ApiResponse> {
  if (!(response.body instanceof Uint8Array)) await response.body[Symbol.asyncIterator]().return?.()
  return { ...response, body: new Uint8Array() }
}

/** Calls `done` once when the answer is complete: at once, or when its stream is over. */
export function whenComplete(response: ApiResponse, done: () => void): ApiResponse {
  const { body, takeOver } = response
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
  if (body instanceof Uint8Array) {
    done()
    return response
  }
  const source = body[Symbol.asyncIterator]()
  let over = false
  const finish = () => {
    if (!over) done()
    over = true
  }
  const iterator: AsyncIterator<Uint8Array> = {
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
  return { ...response, body: { [Symbol.asyncIterator]: () => iterator } }
}
