import { posix } from 'node:path'
import type { Secret } from '../../keys/secret.ts'
import type { Disk } from '../../ports.ts'

/** One change of the disk, whole or not at all. */
export type Operation =
  /** The file under another name; nothing is lost. */
  | { do: 'move'; path: string; to: string }
  /** A copy, mode 0600, beside a file that is about to be replaced. */
  | { do: 'copy'; path: string; to: string }
  | { do: 'link'; path: string; target: string }
  /** Owner and mode of a file that is there stay. */
  | { do: 'write'; path: string; text: Secret }
  | { do: 'remove'; path: string }

/** What was found, and what mends it; no operation: a person must, and `advice` says how. */
export interface Repair {
  problem: string
  operations: readonly Operation[]
  advice?: string
}

export function operationText(operation: Operation): string {
  switch (operation.do) {
    case 'move':
      return `move ${operation.path} to ${operation.to}`
    case 'copy':
      return `copy ${operation.path} to ${operation.to}`
    case 'link':
      return `link ${operation.path} to ${operation.target}`
    case 'write':
      return `write ${operation.path}`
    case 'remove':
      return `remove ${operation.path}`
  }
}

/** Carries one out. Rejects with the disk's error; then the file is as it was. */
export async function carryOut(disk: Disk, operation: Operation): Promise<void> {
  const { path } = operation
  if (operation.do === 'remove') await disk.remove(path)
  else if (operation.do === 'move') await disk.rename(path, operation.to)
  else if (operation.do === 'copy')
    await disk.write(operation.to, await disk.read(path), { mode: 0o600, exclusive: true, sync: true })
  else if (operation.do === 'link') {
    const next = `${path}.new`
    await disk.remove(next)
    await disk.symlink(operation.target, next)
    await disk.rename(next, path)
  } else {
    const next = `${path}.new`
    const { mode, owner, group } = await disk.stat(path)
    await disk.remove(next)
    await disk.write(next, operation.text.reveal(), { mode, exclusive: true, sync: true })
    await disk.changeOwner?.(next, owner, group ?? owner)
    await disk.rename(next, path)
  }
  await disk.syncDirectory(posix.dirname(path))
}
