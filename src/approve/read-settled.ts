import { type Clock, type Disk, sleep } from '../ports.ts'

/** Milliseconds for which new content must stay as it is. */
const settling = 1_000
const mostLooks = 8

/**
 * The text of a file that somebody may be writing: half of it may be good YAML and say something else. What is new counts
 * when it is still the same a second later; while it keeps changing, `before` does, as with one that was never read
 * (undefined) what is there. Rejects as the disk does.
 */
export async function readSettled(
  path: string,
  before: string | undefined,
  { disk, clock, signal }: { disk: Pick<Disk, 'read'>; clock: Clock; signal: AbortSignal },
): Promise<string> {
  const read = async () => new TextDecoder().decode(await disk.read(path))
  let text = await read()
  if (before === undefined) return text
  for (let looks = 1; text !== before && looks < mostLooks && !signal.aborted; looks++) {
    await sleep(clock, settling, signal)
    const again = await read()
    if (again === text) return text
    text = again
  }
  return before
}
