import { systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'

/** One process of this machine, beyond the reuse of its id and a restart of the machine. */
export interface ProcessIdentity {
  processId: number
  /** Clock ticks between the start of the machine and that of the process. */
  startTicks: string
  bootId: string
}

export const bootIdPath = '/proc/sys/kernel/random/boot_id'

/** What a line of /proc/ID/stat says: the name in it may hold anything, so fields count from its last bracket. */
export function parseStat(
  line: string,
): { processId: number; state: string; startTicks: string } | undefined {
  const processId = Number.parseInt(line, 10)
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  // Fields 3 and 22 of proc(5).
  const [state, startTicks] = [fields[0], fields[19]]
  return Number.isInteger(processId) && state && startTicks ? { processId, state, startTicks } : undefined
}

/** What the shim leaves about itself: its stat line, and the machine's boot id. undefined: it is not complete (yet). */
export function parseIdentity(text: string): ProcessIdentity | undefined {
  const [line = '', bootId = ''] = text.split('\n')
  const stat = parseStat(line)
  return stat && bootId !== ''
    ? { processId: stat.processId, startTicks: stat.startTicks, bootId }
    : undefined
}

/** Our own process. */
export async function ownIdentity(disk: Disk): Promise<string> {
  return `${(await readText('/proc/self/stat', disk)) ?? ''}\n${(await readText(bootIdPath, disk)) ?? ''}\n`
}

/** Whether the process still runs; one that has ended and is not reaped does not. */
export async function isRunning(
  { processId, startTicks, bootId }: ProcessIdentity,
  disk: Disk,
): Promise<boolean> {
  const stat = parseStat((await readText(`/proc/${processId}/stat`, disk)) ?? '')
  if (!stat || stat.startTicks !== startTicks || stat.state === 'Z' || stat.state === 'X') return false
  return (await readText(bootIdPath, disk)) === bootId
}

/** The trimmed text of a small file; undefined: there is none. */
export async function readText(path: string, disk: Disk): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await disk.read(path)).trim()
  } catch (error) {
    // ESRCH: a process that ended while its file in /proc was read.
    if (['ENOENT', 'ESRCH', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined
    throw error
  }
}
