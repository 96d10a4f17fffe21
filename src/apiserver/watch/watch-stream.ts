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
  initial: Iterator<Line<Part>>
  chunks: Chunks<Part, Chunk>
  /** Lines that may wait. */
  backlog: number
  /** Called once, as soon as nothing more can be pushed. */
  onClose(): void
}

/** A stream and the end that feeds it. Not a generator: `return()` must work while a read waits. */
export function watchStream<Part, Chunk>({
  initial,
  chunks,
  backlog,
  onClose,
}: WatchStreamOptions<Part, Chunk>): {
  feed: Feed<Part>
  body: AsyncIterable<Chunk>
} {
  let queue: Line<Part>[] = []
  let ending = false
  let closed = false
  let wake: (() => void) | undefined

  const notify = () => {
    wake?.()
    wake = undefined
  }
  const stopFeed = () => {
    if (ending) return
    ending = true
    onClose()
  }
  const close = () => {
    closed = true
    queue = []
    stopFeed()
    notify()
  }
  const feed: Feed<Part> = {
    push(line) {
      if (ending) return
      if (queue.length >= backlog) stopFeed()
      else queue.push(line)
      notify()
    },
    end() {
      stopFeed()
      notify()
    },
    abort: close,
  }

  function* waiting(): Generator<Line<Part>> {
    for (let next = initial.next(); !next.done; next = initial.next()) yield next.value
    // Lines that are pushed while these are written go into the next chunk.
    const lines = queue
    let taken = 0
    try {
      for (const line of lines) {
        taken++
        yield line
      }
    } finally {
      queue = taken === queue.length ? [] : queue.slice(taken)
    }
  }

  /** The lines at hand, up to a chunk; undefined when there are none. */
  function nextChunk(): Chunk | undefined {
    const parts: Part[] = []
    let bytes = 0
    for (const line of waiting()) {
      const part = line()
      if (!part) continue
      parts.push(part)
      bytes += chunks.size(part)
      if (bytes >= CHUNK) break
    }
    const [first, ...others] = parts
    return first && chunks.join([first, ...others])
  }

  const iterator: AsyncIterator<Chunk, undefined> = {
    async next() {
      for (;;) {
        if (closed) return { done: true, value: undefined }
        const chunk = nextChunk()
        if (chunk) return { done: false, value: chunk }
        if (ending) close()
        else await new Promise<void>(resolve => (wake = resolve))
      }
    },
    async return() {
      close()
      return { done: true, value: undefined }
    },
  }
  return { feed, body: { [Symbol.asyncIterator]: () => iterator } }
}
