import { systemCode } from '../../errors.ts'
import { type Clock, type Disk, type Spawn, sleep } from '../../ports.ts'

/** coreutils, essential in Debian. */
const stty = '/usr/bin/stty'
/** The terminal is there as soon as `script` has started its child: looks, and milliseconds between two. */
const looks = 20
const between = 50

/** Gives the terminal on which the child of `processId` runs another size; a child that has ended has none any more. */
export async function resizeTerminal(
  processId: number,
  { width, height }: { width: number; height: number },
  { disk, clock, spawn }: { disk: Disk; clock: Clock; spawn: Spawn },
): Promise<void> {
  for (let look = 0; look < looks; look++) {
    const terminal = await terminalOf(processId, disk)
    if (terminal !== undefined) {
      await spawn.run({
        command: stty,
        args: ['-F', terminal, 'rows', String(height), 'cols', String(width)],
        environment: {},
        directory: '/',
        mostOutput: 1024,
      })
      return
    }
    await sleep(clock, between)
  }
}

/** undefined: there is none yet, or no longer. */
async function terminalOf(processId: number, disk: Disk): Promise<string | undefined> {
  try {
    const children = await disk.read(`/proc/${processId}/task/${processId}/children`)
    const [child] = new TextDecoder().decode(children).trim().split(' ')
    if (!child) return undefined
    const terminal = await disk.readlink(`/proc/${child}/fd/0`)
    return /^\/dev\/pts\/\d+$/.test(terminal) ? terminal : undefined
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes(systemCode(error) ?? '')) return undefined
    throw error
  }
}
