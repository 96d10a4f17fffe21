import type { Disk } from '../../ports.ts'
import { listOrNothing } from './pod-folder.ts'

/** Removes the log of a run (`…/N.log`) with what was rotated away of it. */
export async function removeLog(path: string, disk: Disk): Promise<void> {
  const [folder, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)]
  for (const entry of await listOrNothing(folder, disk)) {
    if (entry === name || entry.startsWith(`${name}.`)) await disk.remove(`${folder}/${entry}`)
  }
}
