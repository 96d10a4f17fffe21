import { RollcallError, systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import { isRunning, ownIdentity, parseIdentity, readText } from './process-identity.ts'

/**
 * Makes this process the one agent that runs the pods of a state folder; the file of one that has ended does not count.
 * Rejects with POD_RUNTIME_UNAVAILABLE while another one runs.
 */
export async function takeLock(path: string, disk: Disk): Promise<void> {
  const own = await ownIdentity(disk)
  const held = await readText(path, disk)
  const holder = parseIdentity(held ?? '')
  if (holder && holder.processId !== parseIdentity(own)?.processId && (await isRunning(holder, disk)))
    throw taken(path, holder.processId)
  if (held !== undefined) await disk.remove(path)
  try {
    await disk.write(path, own, { mode: 0o600, exclusive: true })
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
    throw taken(path, undefined)
  }
}

function taken(path: string, processId: number | undefined): RollcallError {
  const who = processId === undefined ? 'Another agent' : `Another agent (process ${processId})`
  return new RollcallError(
    'POD_RUNTIME_UNAVAILABLE',
    `${who} runs the static pods of this folder (${path}); stop it, or give this one another folder.`,
  )
}
