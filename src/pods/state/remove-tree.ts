import { systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import { listOrNothing } from './pod-folder.ts'

/** Removes a folder of ours with all that is in it; follows no symlink. */
export async function removeTree(path: string, disk: Disk): Promise<void> {
  for (const name of await listOrNothing(path, disk)) {
    const entry = `${path}/${name}`
    const { kind } = await disk.stat(entry)
    if (kind === 'directory') await removeTree(entry, disk)
    else await disk.remove(entry)
  }
  try {
    await disk.removeDirectory?.(path)
  } catch (error) {
    if (systemCode(error) !== 'ENOENT') throw error
  }
}
