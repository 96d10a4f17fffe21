import { globSync, readFileSync } from 'node:fs'

/** Process ids and their parents of all that run; a process that ended and is not yet reaped does not count. */
function processes(): Map<number, number> {
  const found = new Map<number, number>()
  for (const path of globSync('/proc/[0-9]*/stat')) {
    try {
      const [, processId, state, parent] = /^(\d+) .*\) (\S) (\d+) /s.exec(readFileSync(path, 'utf8')) ?? []
      if (state !== 'Z') found.set(Number(processId), Number(parent))
    } catch {
      // It ended meanwhile.
    }
  }
  return found
}

/** Whether the process has not ended. */
export const runs = (processId: number) => processes().has(processId)

/** Process ids of its children, their children and so on. */
export function descendants(processId: number): number[] {
  const children = [...processes()].filter(([, parent]) => parent === processId).map(([child]) => child)
  return children.flatMap(child => [child, ...descendants(child)])
}
