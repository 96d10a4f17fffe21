import { posix } from 'node:path'
import { systemCode } from '../../errors.ts'
import type { Disk, FileStat } from '../../ports.ts'

/**
 * Replaces a file in one step, whole and on the disk, with owner and mode of the one that is there. The next one is written
 * under a name with a dot before it: a kubelet takes every other file beside a manifest for a manifest.
 */
export async function replaceFile(disk: Disk, path: string, text: string, mode: number): Promise<void> {
  const { dir, base } = posix.parse(path)
  const next = posix.join(dir, `.${base}.rollcall`)
  const before = await statOf(disk, path)
  await disk.remove(next) // one left by a crash would keep its mode
  await disk.write(next, text, { mode: before?.mode ?? mode, exclusive: true, sync: true })
  if (before && disk.changeOwner) await disk.changeOwner(next, before.owner, before.group ?? before.owner)
  await disk.rename(next, path)
  await disk.syncDirectory(dir)
}

async function statOf(disk: Disk, path: string): Promise<FileStat | undefined> {
  try {
    const stat = await disk.stat(path)
    return stat.kind === 'file' ? stat : undefined
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
