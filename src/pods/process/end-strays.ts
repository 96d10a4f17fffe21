import { type Clock, type Disk, type Spawn, sleep } from '../../ports.ts'
import { listOrNothing } from '../state/pod-folder.ts'
import { bootIdPath, isRunning, type ProcessIdentity, readText } from '../state/process-identity.ts'

/** Milliseconds between two looks whether they have gone. */
const poll = 20
const mostLooks = 250

export interface StrayPorts {
  clock: Clock
  disk: Disk
  spawn: Pick<Spawn, 'signal'>
}

/**
 * Ends what a shim has left that was killed itself: its container goes on, and the next run would be a second one beside it.
 * They are known by their session, whose number is the shim's, and, as numbers come again, by the log that one of them
 * writes to. Resolves when none is left, or after five seconds.
 */
export async function endStrays(
  shim: ProcessIdentity,
  folder: string,
  { clock, disk, spawn }: StrayPorts,
): Promise<void> {
  // Of another boot nothing is left; of a shim that runs all is well.
  if ((await readText(bootIdPath, disk)) !== shim.bootId || (await isRunning(shim, disk))) return
  for (let look = 0; look < mostLooks; look++) {
    const members = await membersOf(shim, disk)
    // One that has closed its log is ended with those that have not, at the first look.
    if (members.length === 0 || (look === 0 && !(await writesTo(folder, members, disk)))) return
    spawn.signal(-shim.processId, 'SIGKILL')
    await sleep(clock, poll)
  }
}

/** Ids of the processes of the shim's session. */
async function membersOf({ processId, startTicks }: ProcessIdentity, disk: Disk): Promise<number[]> {
  const names = (await listOrNothing('/proc', disk)).filter(name => /^\d+$/.test(name))
  const lines = await Promise.all(names.map(name => readText(`/proc/${name}/stat`, disk)))
  const found = lines.flatMap(line => (line ? [sessionOf(line)] : []))
  // Its number belongs to somebody else now, so the session has gone.
  if (found.some(one => one.processId === processId && one.startTicks !== startTicks)) return []
  const members = found.filter(
    ({ session, state }) => session === processId && state !== 'Z' && state !== 'X',
  )
  return members.map(one => one.processId)
}

/** Whether one of them writes to the log of the run of this folder; the state may lie behind a link. */
async function writesTo(folder: string, members: readonly number[], disk: Disk): Promise<boolean> {
  const log = `${folder.slice(folder.lastIndexOf('/pods/'))}.log`
  const outputs = members.flatMap(id => [1, 2].map(fd => disk.readlink(`/proc/${id}/fd/${fd}`)))
  const paths = await Promise.allSettled(outputs)
  return paths.some(path => path.status === 'fulfilled' && path.value.endsWith(log))
}

/** Fields 3, 6 and 22 of proc(5), after the name, which may hold anything. */
function sessionOf(line: string) {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ')
  const [state = '', startTicks] = [fields[0], fields[19]]
  return { processId: Number.parseInt(line, 10), state, session: Number(fields[3]), startTicks }
}
