/** Files that are appended to, kept open: to open and close one costs more than to write a line. */
import { closeSync, constants, openSync, statSync, write } from 'node:fs'

interface Kept {
  descriptor: number
  device: number
  inode: number
  /** Writes under way; it is not closed under them. */
  writing: number
}

/** One writes to a log or two; the longest unused is closed. */
const MOST_OPEN = 4

const { O_APPEND, O_CREAT, O_DSYNC, O_WRONLY } = constants

export class AppendedFiles {
  readonly #open = new Map<string, Kept>()

  /** `sync`: resolves when the disk has it. A file that was moved away or removed meanwhile is made anew. */
  async append(path: string, data: Uint8Array | string, mode: number, sync: boolean): Promise<void> {
    const key = `${sync} ${path}`
    const file = this.#current(key, path) ?? this.#begin(key, path, mode, sync)
    file.writing += 1
    try {
      await writeAll(file.descriptor, typeof data === 'string' ? Buffer.from(data) : data)
    } finally {
      file.writing -= 1
      if (this.#open.get(key) !== file && file.writing === 0) closeSync(file.descriptor)
    }
  }

  #current(key: string, path: string): Kept | undefined {
    const kept = this.#open.get(key)
    if (!kept) return undefined
    const found = statSync(path, { throwIfNoEntry: false })
    this.#open.delete(key)
    if (found?.ino === kept.inode && found.dev === kept.device) {
      this.#open.set(key, kept)
      return kept
    }
    if (kept.writing === 0) closeSync(kept.descriptor)
    return undefined
  }

  #begin(key: string, path: string, mode: number, sync: boolean): Kept {
    const descriptor = openSync(path, O_WRONLY | O_APPEND | O_CREAT | (sync ? O_DSYNC : 0), mode)
    const { dev, ino } = statSync(path)
    const file = { descriptor, device: dev, inode: ino, writing: 0 }
    this.#open.set(key, file)
    for (const [oldest, { descriptor, writing }] of this.#open) {
      if (this.#open.size <= MOST_OPEN) break
      this.#open.delete(oldest)
      if (writing === 0) closeSync(descriptor)
    }
    return file
  }
}

async function writeAll(descriptor: number, data: Uint8Array): Promise<void> {
  for (let from = 0; from < data.length; ) {
    from += await new Promise<number>((resolve, reject) =>
      write(descriptor, data, from, data.length - from, null, (error, bytes) =>
        error ? reject(error) : resolve(bytes),
      ),
    )
  }
}
