import { systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'

/** Bytes that are read at once. */
const BLOCK = 64 * 1024
const newline = 0x0a

/** Bytes of a log; 0 where there is none yet. */
export async function logSize(path: string, disk: Disk): Promise<number> {
  return (await statOrNothing(path, disk))?.size ?? 0
}

/** When it was last written to, in milliseconds since the epoch; 0 where there is none yet. */
export async function logModified(path: string, disk: Disk): Promise<number> {
  return (await statOrNothing(path, disk))?.modified ?? 0
}

/** What a log holds from `offset` on, block by block; nothing where there is none. */
export async function* blocksOf(path: string, offset: number, disk: Disk): AsyncGenerator<Uint8Array> {
  for (let at = offset; ; ) {
    const block = await readBlock(path, at, BLOCK, disk)
    if (block.length === 0) return
    at += block.length
    yield block
  }
}

/** Where the last `lines` lines of a log begin, of which `size` bytes count. */
export async function tailOffset(path: string, lines: number, size: number, disk: Disk): Promise<number> {
  if (lines <= 0) return size
  let ends = 0
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - BLOCK)
    const block = await readBlock(path, start, end - start, disk)
    for (let index = block.length - 1; index >= 0; index--) {
      // The newline of the last line begins no other.
      if (block[index] !== newline || start + index === size - 1) continue
      ends++
      if (ends === lines) return start + index + 1
    }
    end = start
  }
  return 0
}

async function readBlock(path: string, offset: number, length: number, disk: Disk): Promise<Uint8Array> {
  try {
    if (disk.readRange) return await disk.readRange(path, offset, length)
    return (await disk.read(path)).subarray(offset, offset + length)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return new Uint8Array()
    throw error
  }
}

async function statOrNothing(path: string, disk: Disk) {
  try {
    return await disk.stat(path)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
