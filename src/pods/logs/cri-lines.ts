/** Bytes of one line that are kept together; runtimes cut at 16 KiB. */
const LONGEST = 256 * 1024
const newline = 0x0a

export interface CriLineOptions {
  /** Milliseconds since the epoch; lines before it are left out. */
  since?: number
  /** Put the time before each line. */
  timestamps: boolean
}

/** Makes what a container wrote of the lines of a container runtime: `TIME stdout|stderr F|P TEXT`. */
export class CriLines {
  readonly #options: CriLineOptions
  #rest: Buffer = Buffer.alloc(0)
  /** The line before was only a part. */
  #inLine = false

  constructor(options: CriLineOptions) {
    this.#options = options
  }

  take(block: Uint8Array): Uint8Array {
    const all = this.#rest.length === 0 ? Buffer.from(block) : Buffer.concat([this.#rest, block])
    const parts: Uint8Array[] = []
    let start = 0
    for (let end = all.indexOf(newline); end >= 0; end = all.indexOf(newline, start)) {
      parts.push(this.#line(all.subarray(start, end)))
      start = end + 1
    }
    const rest = all.subarray(start)
    this.#rest = rest.length > LONGEST ? Buffer.alloc(0) : rest
    return Buffer.concat(parts)
  }

  #line(line: Buffer): Uint8Array {
    const [time, stream, tag] = line.toString('latin1', 0, 64).split(' ', 3)
    // What is no such line is shown as it is: better than lost.
    if (time === undefined || tag === undefined || (stream !== 'stdout' && stream !== 'stderr'))
      return Buffer.concat([line, Buffer.of(newline)])
    const text = line.subarray(time.length + stream.length + tag.length + 3)
    const begins = !this.#inLine
    const whole = !tag.split(':').includes('P')
    this.#inLine = !whole
    const { since, timestamps } = this.#options
    if (since !== undefined && Date.parse(time) < since) return Buffer.alloc(0)
    return Buffer.concat([
      Buffer.from(timestamps && begins ? `${time} ` : ''),
      text,
      whole ? Buffer.of(newline) : Buffer.alloc(0),
    ])
  }
}
