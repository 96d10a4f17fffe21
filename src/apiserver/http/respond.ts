import type { ApiResponse } from '../../kube/transport.ts'
import type { Clock } from '../../ports.ts'
import type { Answering } from './exchange.ts'

/** Bytes of an answer that fit into the buffers of any connection. */
const ANSWER_AT_ONCE = 64 * 1024
/** Milliseconds that a client has to take an answer: kube-apiserver's --request-timeout. */
const ANSWER_TIMEOUT = 60_000

/** Sends the answer; a stream's headers at once (W-4), its chunks no faster than the client takes them. */
export async function respond(
  answer: Answering,
  { status, headers, body }: ApiResponse,
  gone: AbortSignal,
  clock: Clock,
): Promise<void> {
  if (body instanceof Uint8Array) {
    if (gone.aborted) return
    answer.writeHead(status, { ...headers, 'content-length': String(body.length) }, false)
    answer.end(body)
    if (body.length > ANSWER_AT_ONCE) await taken(answer, gone, clock)
    return
  }
  if (!gone.aborted) answer.writeHead(status, headers, true)
  const stream = body[Symbol.asyncIterator]()
  try {
    while (!gone.aborted) {
      const { done, value } = await stream.next()
      if (done) break
      if (!answer.write(value)) await drained(answer, gone)
    }
  } finally {
    await stream.return?.()
  }
  if (!gone.aborted) answer.end()
}

/** Resolves when the client has the answer or has left; one that does not take it must not have it kept for ever. */
function taken(answer: Answering, gone: AbortSignal, clock: Clock): Promise<void> {
  return new Promise(resolve => {
    const slow = clock.after(ANSWER_TIMEOUT, () => answer.destroy())
    const end = () => {
      slow.cancel()
      resolve()
    }
    answer.onClose(end)
    if (gone.aborted) end()
  })
}

/** Resolves also when the client left while it was waited for; the caller sees `gone`. */
function drained(answer: Answering, gone: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    const end = () => {
      gone.removeEventListener('abort', end)
      resolve()
    }
    answer.onDrain(end)
    gone.addEventListener('abort', end, { once: true })
    if (gone.aborted) end()
  })
}
