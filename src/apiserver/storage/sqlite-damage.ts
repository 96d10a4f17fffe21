/** Signs of a disk that lost or tore bytes, which SQLite itself finds late or passes over in silence. */
import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** Sizes and offsets of SQLite's file formats (sqlite.org/fileformat2.html). */
const DATABASE_HEADER = 100
const LOG_HEADER = 32
const FRAME_HEADER = 24
const PAGE_SIZE_OFFSET = 16
const CHANGE_COUNTER_OFFSET = 24
const PAGE_COUNT_OFFSET = 28
const VALID_FOR_OFFSET = 92
const LOG_SALT_OFFSET = 16
const FRAME_SALT_OFFSET = 8

/** The `length` bytes at `offset`, fewer at the file's end; none when there is no file. */
function bytesAt(path: string, offset: number, length: number): Buffer {
  if (!existsSync(path)) return Buffer.alloc(0)
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(length)
    return bytes.subarray(0, readSync(file, bytes, 0, length, offset))
  } finally {
    closeSync(file)
  }
}

function sizeOf(path: string): number {
  if (!existsSync(path)) return 0
  const file = openSync(path, 'r')
  try {
    return fstatSync(file).size
  } finally {
    closeSync(file)
  }
}

/** Whether the last process had no time to close the database. */
const wasLeftOpen = (path: string): boolean => sizeOf(`${path}-wal`) > 0

/** Why the file cannot be what was written, or undefined. To be asked before it is opened. */
export function missingPages(path: string): string | undefined {
  const header = bytesAt(path, 0, DATABASE_HEADER)
  if (header.length < DATABASE_HEADER) return undefined
  const stored = header.readUInt16BE(PAGE_SIZE_OFFSET)
  // The format writes 65536, which has no room in two bytes, as 1.
  const pageSize = stored === 1 ? 65_536 : stored
  const counted =
    header.readUInt32BE(CHANGE_COUNTER_OFFSET) === header.readUInt32BE(VALID_FOR_OFFSET)
      ? header.readUInt32BE(PAGE_COUNT_OFFSET)
      : 0
  const expected = counted * pageSize
  const size = sizeOf(path)
  // Pages that are missing here may be in the log.
  return size < expected && !wasLeftOpen(path)
    ? `the file ends after ${size} of ${expected} bytes`
    : undefined
}

/**
 * Bytes that a log had after its last whole transaction, 0 when it ended with one. To be asked after the database was
 * opened and read, before anything is written. That is what a machine leaves which lost power; it is also all that is
 * left of writes when a disk lost them.
 */
export function tornLog(database: DatabaseSync, path: string, sizeBefore: number): number {
  if (sizeBefore <= LOG_HEADER) return sizeBefore
  const log = `${path}-wal`
  const header = bytesAt(log, 0, LOG_HEADER)
  const pageSize = header.readUInt32BE(8)
  const { log: whole } = database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get() as { log: number }
  const end = LOG_HEADER + Math.max(0, whole) * (FRAME_HEADER + pageSize)
  if (end >= sizeBefore) return 0
  const frame = bytesAt(log, end, FRAME_HEADER)
  const salt = header.subarray(LOG_SALT_OFFSET, LOG_SALT_OFFSET + 8)
  const frameSalt = frame.subarray(FRAME_SALT_OFFSET, FRAME_SALT_OFFSET + 8)
  // Behind the end lies what an earlier turn of the log left; it has another salt.
  const current = frameSalt.length < 8 || frameSalt.equals(salt)
  return current ? sizeBefore - end : 0
}

export const logSize = (path: string): number => sizeOf(`${path}-wal`)
