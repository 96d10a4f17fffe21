import { access, constants, statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import type { Machine } from '../doctor/gather/machine.ts'
import { systemCode } from '../errors.ts'

/** The machine this process runs on. */
export const systemMachine: Machine = {
  hostname,
  async space(path) {
    const { bavail, bsize, ffree, files } = await statfs(path)
    return {
      freeBytes: bavail * bsize,
      // File systems that make inodes as they need them (btrfs) tell 0 of 0.
      freeFiles: files === 0 ? Number.MAX_SAFE_INTEGER : ffree,
      readOnly: await isReadOnly(path),
    }
  },
}

/** access(2) says EROFS even to root. */
async function isReadOnly(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK)
    return false
  } catch (error) {
    return systemCode(error) === 'EROFS'
  }
}
