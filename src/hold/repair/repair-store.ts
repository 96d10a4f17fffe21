import { posix } from 'node:path'
import { pairFileName } from '../pair-file-name.ts'
import type { Operation, Repair } from './operation.ts'
import type { StoreFiles } from './read-files.ts'

/**
 * What mends a store whose `current` shows no usable pair, or is no link: the newest usable pair becomes current; where
 * there is none, what is broken is moved away, since a kubelet does not start with it and bootstraps without it (K-11).
 * `backup` makes the name under which a file is kept.
 */
export function repairStore(files: StoreFiles, now: number, backup: (path: string) => string): Repair[] {
  const { current, currentPath, updatedPath, updated } = files
  const isUsable = current.kind !== 'missing' && 'pair' in current.read
  if (current.kind === 'link' && isUsable)
    return updated === 'missing'
      ? []
      : [
          {
            problem: `${updatedPath} was left by a switch that broke off`,
            operations: [discard(files, backup)],
          },
        ]
  if (current.kind === 'file' && 'pair' in current.read) return [adopt(files, now, backup)]
  const problem = problemOf(files)
  if (problem === undefined) return []
  const [newest] = files.usable
  const aside: Operation[] =
    current.kind === 'file' ? [{ do: 'move', path: currentPath, to: backup(currentPath) }] : []
  const stale: Operation[] = updated === 'missing' ? [] : [discard(files, backup)]
  if (newest)
    return [
      {
        problem,
        operations: [
          ...stale,
          ...aside,
          { do: 'link', path: currentPath, target: posix.basename(newest.path) },
        ],
      },
    ]
  const dangling: Operation[] = current.kind === 'link' ? [{ do: 'remove', path: currentPath }] : []
  return [
    {
      problem: `${problem}, and no other pair can be used`,
      operations: [...stale, ...aside, ...dangling],
      advice:
        'the node bootstraps anew, if it has a credential for that: rollcall node rebootstrap NAME makes one',
    },
  ]
}

function problemOf({ current, currentPath, usable, updated }: StoreFiles): string | undefined {
  if (current.kind === 'missing')
    return usable.length > 0 || updated !== 'missing'
      ? `${currentPath} is not there, but pairs are`
      : undefined
  if ('pair' in current.read) return undefined
  const { path, fault } = current.read
  return current.kind === 'link' ? `${currentPath} leads to ${path}: ${fault}` : `${currentPath}: ${fault}`
}

/** K-13: a kubelet refuses a `current` that is a file. It becomes a pair among the others, and `current` a link to it. */
function adopt(files: StoreFiles, now: number, backup: (path: string) => string): Repair {
  const { currentPath, prefix, updated } = files
  const name = pairFileName(prefix, now, 0)
  return {
    problem: `${currentPath} is a file and no link`,
    operations: [
      ...(updated === 'missing' ? [] : [discard(files, backup)]),
      { do: 'copy', path: currentPath, to: posix.join(posix.dirname(currentPath), name) },
      { do: 'link', path: currentPath, target: name },
    ],
  }
}

function discard({ updatedPath, updated }: StoreFiles, backup: (path: string) => string): Operation {
  return updated === 'link'
    ? { do: 'remove', path: updatedPath }
    : { do: 'move', path: updatedPath, to: backup(updatedPath) }
}
