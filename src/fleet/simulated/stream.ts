import type { Call } from './call.ts'
import type { Machine } from './machine.ts'
import type { SeededRandom } from './random.ts'
import type { VirtualTime } from './virtual-time.ts'

/** TCP retransmits with growing pauses and gives up after about a quarter of an hour (tcp_retries2). Milliseconds. */
const RETRANSMIT = { least: 500, most: 30_000 }
const GIVE_UP_AFTER = 15 * 60_000

/** What the client iterates: chunks in order, then the end or the error. */
class Inbox implements AsyncIterableIterator<Uint8Array> {
  readonly #chunks: Uint8Array[] = []
  readonly #onReturn: () => void
  #ended: { error?: Error } | undefined
  #waiting: { resolve(result: IteratorResult<Uint8Array>): void; reject(error: Error): void } | undefined

  constructor(onReturn: () => void) {
    this.#onReturn = onReturn
  }

  push(chunk: Uint8Array): void {
    if (this.#ended) return
    if (this.#waiting) {
      this.#waiting.resolve({ done: false, value: chunk })
      this.#waiting = undefined
    } else this.#chunks.push(chunk)
  }

  end(error?: Error): void {
    this.#ended ??= error ? { error } : {}
    if (!this.#waiting) return
    if (error) this.#waiting.reject(error)
    else this.#waiting.resolve({ done: true, value: undefined })
    this.#waiting = undefined
  }

  next(): Promise<IteratorResult<Uint8Array>> {
    const chunk = this.#chunks.shift()
    if (chunk) return Promise.resolve({ done: false, value: chunk })
    if (this.#ended?.error) return Promise.reject(this.#ended.error)
    if (this.#ended) return Promise.resolve({ done: true, value: undefined })
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  return(): Promise<IteratorResult<Uint8Array>> {
    this.#onReturn()
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

/**
 * Carries a body from the server to the client of `call`, chunk by chunk with latency, in order. While one of the two
 * is cut off, chunks wait and are sent again; nobody is told that anything is wrong, as with TCP.
 */
export function carryStream(
  call: Call,
  body: AsyncIterable<Uint8Array>,
  server: Machine,
  way: { time: VirtualTime; random: SeededRandom; latency(): number },
): { chunks: AsyncIterable<Uint8Array>; breakOff(error: Error): void } {
  const source = body[Symbol.asyncIterator]()
  const inbox = new Inbox(() => call.fail('the client closed the stream'))
  const backlog: (Uint8Array | 'end')[] = []
  let due = 0
  let stuckSince: number | undefined

  const deliver = (): void => {
    if (call.over) return
    if (call.client.machine.partitioned || server.partitioned) {
      waitAndRetry()
      return
    }
    stuckSince = undefined
    for (const item of backlog.splice(0)) {
      if (item !== 'end') inbox.push(item)
      else {
        inbox.end()
        call.finish()
      }
    }
  }
  const waitAndRetry = () => {
    stuckSince ??= way.time.now
    // The server gives up and forgets the watch; the client, which only reads, learns nothing.
    if (way.time.now - stuckSince > GIVE_UP_AFTER) return call.gone.abort()
    way.time.after(way.random.between(RETRANSMIT.least, RETRANSMIT.most), deliver)
  }
  const send = (item: Uint8Array | 'end') => {
    backlog.push(item)
    due = Math.max(due, way.time.now + way.latency())
    if (stuckSince === undefined) way.time.at(due, deliver)
  }
  const pump = async () => {
    for (;;) {
      const { done, value } = await source.next()
      send(done ? 'end' : value)
      if (done) return
    }
  }
  pump().catch(error => call.fail(`the server broke off the stream: ${error}`))
  call.gone.signal.addEventListener('abort', () => void source.return?.(), { once: true })
  // What the client asked for itself is an end, not an error (kube/undici-transport.ts does the same).
  const breakOff = (error: Error) => inbox.end(call.request.signal?.aborted ? undefined : error)
  return { chunks: inbox, breakOff }
}
