import { type Clock, type Disk, sleep } from '../../ports.ts'
import { CriLines } from './cri-lines.ts'
import { blocksOf, logModified, logSize, tailOffset } from './log-file.ts'

export interface LogOptions {
  /** Go on as long as the container runs. */
  follow: boolean
  timestamps: boolean
  tailLines?: number
  /** Milliseconds since the epoch. */
  since?: number
  limitBytes?: number
}

export interface ContainerLog {
  path: string
  format: 'raw' | 'cri'
  /** Whether nothing more will be written. */
  ended(): boolean
}

/** Milliseconds between two looks at a log that is followed. */
const LOOK = 250

/**
 * A container's log as its reader wants it, over rotations too. Of a `raw` log no line has a time: `since` leaves it out
 * as a whole when it was not written to since then, and `timestamps` is the caller's to refuse.
 */
export async function* readLog(
  log: ContainerLog,
  options: LogOptions,
  { disk, clock, signal }: { disk: Disk; clock: Clock; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const { since, timestamps } = options
  const lines = log.format === 'cri' && new CriLines({ timestamps, ...(since !== undefined && { since }) })
  let left = options.limitBytes ?? Number.POSITIVE_INFINITY
  for await (const block of written(log, options, { disk, clock, signal })) {
    const chunk = (lines ? lines.take(block) : block).subarray(0, left)
    left -= chunk.length
    if (chunk.length > 0) yield chunk
    if (left <= 0) return
  }
}

async function* written(
  { path, format, ended }: ContainerLog,
  { follow, tailLines, since }: LogOptions,
  { disk, clock, signal }: { disk: Disk; clock: Clock; signal: AbortSignal },
): AsyncGenerator<Uint8Array> {
  const size = await logSize(path, disk)
  let offset = tailLines === undefined ? 0 : await tailOffset(path, tailLines, size, disk)
  if (format === 'raw' && since !== undefined && (await logModified(path, disk)) < since) offset = size
  if (!follow) {
    // What is written while it is read is no part of the log that was asked for.
    for await (const block of blocksOf(path, offset, disk)) {
      yield block.subarray(0, size - offset)
      offset += block.length
      if (offset >= size || signal.aborted) return
    }
    return
  }
  for (;;) {
    // Asked before it is read: what was written until the end is then there.
    const over = ended()
    if ((await logSize(path, disk)) < offset) {
      // It was rotated: what was not read yet is in the file before.
      yield* blocksOf(`${path}.1`, offset, disk)
      offset = 0
    }
    for await (const block of blocksOf(path, offset, disk)) {
      offset += block.length
      yield block
      if (signal.aborted) return
    }
    if (over || signal.aborted) return
    await sleep(clock, LOOK, signal)
    if (signal.aborted) return
  }
}
