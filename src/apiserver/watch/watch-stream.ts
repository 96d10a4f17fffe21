/** The body of a watch: lines that wait for a reader, within a bound. */

/** Bytes that one chunk gathers before it is handed over. */
const CHUNK = 64 * 1024

/** Makes a line when it is read: a line that nobody reads costs nothing. Empty: nothing to say. */
export type Line<Part = Uint8Array> = () => Part | undefined

/** What lines are, and how those at hand become one chunk. */
export interface Chunks<Part, Chunk> {
  /** Bytes of a line. */
  size(part: Part): number
  join(parts: readonly [Part, ...Part[]]): Chunk
}

/** Lines of JSON. */
export const byteChunks: Chunks<Uint8Array, Uint8Array> = {
  size: part => part.length,
  join: parts => (parts.length > 1 ? Buffer.concat(parts) : parts[0]),
}

/** What feeds a stream. */
export interface Feed<Part = Uint8Array> {
  /** Queues a line; ends the stream after what is queued when the reader is too far behind. */
  push(line: Line<Part>): void
  /** Ends the stream after what is queued. */
  end(): void
  /** Ends it at once: the reader has left. */
  abort(): void
}

export interface WatchStreamOptions<Part, Chunk> {
  /** Lines that come first; they are many (a whole collection), so they are made as they are read. */
  initial?: Iterator<Line<Part>> | undefined
  chunks: Chunks<Part, Chunk>
  /** Lines that may wait. */
  backlog: number
}

/**
 * A stream with one reader, and the end that feeds it. Neither generators nor closures: there are thousands of them that
 * wait, and `return()` must work while a read does.
 */
export class WatchStream<Part, Chunk> implements Feed<Part>, AsyncIterable<Chunk>, AsyncIterator<Chunk> {
  /** Called once, as soon as nothing more can be pushed. */
  onClose: (() => void) | undefined
  /** Called once, when the reader has got the last chunk or has left. */
  onOver: (() => void) | undefined
  readonly #chunks: Chunks<Part, Chunk>
  readonly #backlog: number
  #initial: Iterator<Line<Part>> | undefined
  #queue: Line<Part>[] = []
  #ending = false
  #closed = false
  #wake: ((result: Promise<IteratorResult<Chunk>>) => void) | undefined

  constructor({ initial, chunks, backlog }: WatchStreamOptions<Part, Chunk>) {
    this.#initial = initial
    this.#chunks = chunks
    this.#backlog = backlog
  }

  [Symbol.asyncIterator](): AsyncIterator<Chunk> {
    return this
  }

  push(line: Line<Part>): void {
    if (this.#ending) return
    if (this.#queue.length >= this.#backlog) this.#stopFeed()
    else this.#queue.push(line)
    this.#notify()
  }

  end(): void {
    this.#stopFeed()
    this.#notify()
  }

  abort(): void {
    this.#closed = true
    this.#queue = []
    this.#initial = undefined
    this.#stopFeed()
    this.#notify()
    this.#over()
  }

  /** As a listener of the signal that aborts the request. */
  handleEvent(): void {
    this.abort()
  }

  next(): Promise<IteratorResult<Chunk>> {
    try {
      const chunk = this.#closed ? undefined : this.#nextChunk()
      if (chunk) return Promise.resolve({ done: false, value: chunk })
    } catch (error) {
      return Promise.reject(error)
    }
    if (this.#ending) {
      if (this.#closed) this.#over()
      else this.abort()
      return Promise.resolve({ done: true, value: undefined })
    }
    return new Promise(resolve => {
      this.#wake = resolve
    })
  }

  return(): Promise<IteratorResult<Chunk>> {
    this.abort()
    return Promise.resolve({ done: true, value: undefined })
  }

  #over(): void {
    const { onOver } = this
    this.onOver = undefined
    onOver?.()
  }

  #stopFeed(): void {
    if (this.#ending) return
    this.#ending = true
    this.onClose?.()
    this.onClose = undefined
  }

  /** The read goes on when this turn is over, so that what is pushed in it goes into one chunk. */
  #notify(): void {
    const wake = this.#wake
    if (!wake) return
    this.#wake = undefined
    wake(Promise.resolve().then(() => this.next()))
  }

  /** The lines at hand, up to a chunk; undefined when there are none. */
  #nextChunk(): Chunk | undefined {
    const parts: Part[] = []
    let bytes = 0
    const take = (line: Line<Part>) => {
      const part = line()
      if (!part) return
      parts.push(part)
      bytes += this.#chunks.size(part)
    }
    while (this.#initial && bytes < CHUNK) {
      const next = this.#initial.next()
      if (next.done) this.#initial = undefined
      else take(next.value)
    }
    let taken = 0
    try {
      for (; taken < this.#queue.length && bytes < CHUNK; taken++) {
        const line = this.#queue[taken]
        if (line) take(line)
      }
    } finally {
      this.#queue = taken === this.#queue.length ? [] : this.#queue.slice(taken)
    }
    const [first, ...others] = parts
    return first && this.#chunks.join([first, ...others])
  }
}
