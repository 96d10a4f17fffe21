import { type ErrorCode, RollcallError, systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import { isRunning, ownIdentity, parseIdentity, readText } from './process-identity.ts'

/**
 * Makes this process the one agent that uses a state folder; the file of one that has ended does not count. Rejects with
 * `code` while another one runs.
 */
export async function takeLock(
  path: string,
  disk: Disk,
  code: ErrorCode = 'POD_RUNTIME_UNAVAILABLE',
): Promise<void> {
  const own = await ownIdentity(disk)
  const held = await readText(path, disk)
  const holder = parseIdentity(held ?? '')
  if (holder && holder.processId !== parseIdentity(own)?.processId && (await isRunning(holder, disk)))
    throw taken(path, holder.processId, code)
  if (held !== undefined) await disk.remove(path)
  try {
    await disk.write(path, own, { mode: 0o600, exclusive: true })
  } catch (error) {
    if (systemCode(error) !== 'EEXIST') throw error
    throw taken(path, undefined, code)
  }
}

function taken(path: string, processId: number | undefined, code: ErrorCode): RollcallError {
  const who = processId === undefined ? 'Another agent' : `Another agent (process ${processId})`
  return new RollcallError(
    code,
    `${who} uses this folder (${path}); stop it, or give this one another folder.`,
  )
}
