/** Chunks between one who brings and one who takes them. */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  readonly #most: number
  readonly #chunks: Uint8Array[] = []
  #size = 0
  #over = false
  #taken: () => void = () => {}
  #brought: () => void = () => {}

  /** `most`: bytes that wait before `push` makes who brings wait. */
  constructor(most: number) {
    this.#most = most
  }

  /** Resolves when there is room for more. What comes after the end is dropped. */
  async push(chunk: Uint8Array): Promise<void> {
    if (this.#over) return
    this.#chunks.push(chunk)
    this.#size += chunk.length
    this.#brought()
    while (this.#size > this.#most && !this.#over) {
      await new Promise<void>(resolve => {
        this.#taken = resolve
      })
    }
  }

  /** What waits can still be taken. */
  end(): void {
    this.#over = true
    this.#brought()
    this.#taken()
  }

  /** Nobody takes any more. */
  discard(): void {
    this.#chunks.length = 0
    this.#size = 0
    this.end()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunk = this.#chunks.shift()
        if (chunk) {
          this.#size -= chunk.length
          this.#taken()
          yield chunk
        } else if (this.#over) return
        else
          await new Promise<void>(resolve => {
            this.#brought = resolve
          })
      }
    } finally {
      this.discard()
    }
  }
}
