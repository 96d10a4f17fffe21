import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Disk } from '../ports.ts'
import { systemDisk } from './disk.ts'

/** Bytes; far more than any certificate, kubeconfig, manifest or page of /proc. */
const LARGEST = 64 * 2 ** 20

/**
 * The machine's disk for a program that must never stand still for a file: read are ordinary files alone, and none that
 * would fill the memory. A pipe that nobody writes to would hold the reader up for ever, and a device may never end.
 */
export const ordinaryFiles: typeof systemDisk = {
  ...systemDisk,
  async read(path) {
    if (path.startsWith('/proc/')) return systemDisk.read(path)
    // Without O_NONBLOCK to open a pipe is to wait for its writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const found = await file.stat()
      if (found.isDirectory()) throw failure('EISDIR', 'is a folder', path)
      if (!found.isFile()) throw failure('EFTYPE', 'is no ordinary file', path)
      if (found.size > LARGEST) throw failure('EFBIG', `has ${found.size} bytes`, path)
      return new Uint8Array(await file.readFile())
    } finally {
      await file.close()
    }
  },
} satisfies Disk

function failure(code: string, why: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path} ${why}`), { code })
}
