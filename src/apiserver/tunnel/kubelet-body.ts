import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../ports.ts'

/**
 * The body of a kubelet's answer, as it comes. Ends without an error when the kubelet breaks off, is silent for
 * `silence` milliseconds (Infinity: it may be), or the signal aborts; `done` is called once, whatever ends it.
 */
export function kubeletBody(
  response: IncomingMessage,
  { clock, signal, silence }: { clock: Clock; signal: AbortSignal; silence: number },
  done: () => void,
): AsyncIterable<Uint8Array> {
  const end = () => void response.destroy()
  const watchdog = () => (silence === Number.POSITIVE_INFINITY ? undefined : clock.after(silence, end))
  let timer = watchdog()
  signal.addEventListener('abort', end, { once: true })
  response.once('close', () => {
    timer?.cancel()
    signal.removeEventListener('abort', end)
    done()
  })
  if (signal.aborted) end()
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of response as AsyncIterable<Uint8Array>) {
        timer?.cancel()
        // Time that the client takes is not the kubelet's.
        yield chunk
        timer = watchdog()
      }
    } catch {
      // As of kube-apiserver the answer simply ends: its head has been sent.
    } finally {
      timer?.cancel()
      end()
    }
  }
  const iterator = chunks()
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => iterator.next(),
      // Also before the first chunk was asked for, when a generator would not notice.
      async return() {
        end()
        return iterator.return(undefined)
      },
    }),
  }
}

/** The first `most` bytes of the body as text; the rest is not waited for. */
export async function bodyText(
  response: IncomingMessage,
  most: number,
  options: { clock: Clock; signal: AbortSignal; silence: number },
): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of kubeletBody(response, options, () => {})) {
    parts.push(chunk.subarray(0, most - size))
    size += chunk.length
    if (size >= most) break
  }
  return Buffer.concat(parts).toString('utf8')
}
