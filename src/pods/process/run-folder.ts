/**
 * What is on disk of the processes, so that the next agent finds them:
 *
 *     STATE/pods/NAMESPACE_NAME_UID/pod.json             the pod as it was started
 *     STATE/pods/NAMESPACE_NAME_UID/CONTAINER/N.log      stdout and stderr of its N-th run (the kubelet's layout)
 *     STATE/pods/NAMESPACE_NAME_UID/CONTAINER/N/run.json which run it is
 *                                              /process  who the shim is (shim.ts)
 *                                              /exit     how it ended
 */
import { systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import type { StaticPod } from '../pod.ts'
import type { ContainerRecord } from '../runtime.ts'
import { listOrNothing } from '../state/pod-folder.ts'
import { isRunning, type ProcessIdentity, parseIdentity, readText } from '../state/process-identity.ts'

export interface StoredRun {
  record: ContainerRecord
  folder: string
  /** undefined: its shim has left nothing, so it never began. */
  identity: ProcessIdentity | undefined
  /** It has ended without a word of its shim, which was killed itself: its container may go on. */
  isUnexplained?: boolean
}

/** The part of a record that is known when it starts. */
export type RunFacts = Omit<ContainerRecord, 'state' | 'finishedAt' | 'exitCode' | 'reason' | 'message'>

export function runFolder(
  podFolder: string,
  { container, attempt }: Pick<ContainerRecord, 'container' | 'attempt'>,
): string {
  return `${podFolder}/${container}/${attempt}`
}

/** All pods under `root` with their runs; what cannot be read is handed to `onBroken` and left alone. */
export async function readPods(
  root: string,
  disk: Disk,
  onBroken: (path: string, error: unknown) => void,
): Promise<{ pod: StaticPod; runs: StoredRun[] }[]> {
  const found: { pod: StaticPod; runs: StoredRun[] }[] = []
  for (const name of await listOrNothing(root, disk)) {
    const folder = `${root}/${name}`
    try {
      const text = await readText(`${folder}/pod.json`, disk)
      if (text === undefined) continue
      found.push({ pod: JSON.parse(text) as StaticPod, runs: await readRuns(folder, disk) })
    } catch (error) {
      onBroken(folder, error)
    }
  }
  return found
}

async function readRuns(pod: string, disk: Disk): Promise<StoredRun[]> {
  const runs: StoredRun[] = []
  for (const container of await listOrNothing(pod, disk)) {
    for (const attempt of await listOrNothing(`${pod}/${container}`, disk)) {
      if (!/^\d+$/.test(attempt)) continue
      const folder = `${pod}/${container}/${attempt}`
      const text = await readText(`${folder}/run.json`, disk)
      if (text !== undefined) runs.push(await currentRun(folder, JSON.parse(text) as RunFacts, disk))
    }
  }
  return runs
}

/** A run as it is now. `known`: who its shim is, which never changes; its folder may have been removed under it. */
export async function currentRun(
  folder: string,
  facts: RunFacts,
  disk: Disk,
  known?: ProcessIdentity,
): Promise<StoredRun> {
  const identity = known ?? parseIdentity((await readText(`${folder}/process`, disk)) ?? '')
  if (identity && (await isRunning(identity, disk))) {
    return { record: { ...facts, state: 'Running' }, folder, identity }
  }
  const end = await readEnd(folder, facts, disk)
  const isUnexplained = end.message === wasKilled
  return { record: { ...facts, ...end }, folder, identity, ...(isUnexplained && { isUnexplained }) }
}

const wasKilled = 'it was killed'

async function readEnd(
  folder: string,
  facts: RunFacts,
  disk: Disk,
): Promise<Omit<ContainerRecord, keyof RunFacts>> {
  const [first = '', ...message] = ((await readText(`${folder}/exit`, disk)) ?? '').split('\n')
  const written = await modifiedAt(`${folder}/exit`, disk)
  const finishedAt = written ?? (await modifiedAt(`${folder}/process`, disk)) ?? facts.startedAt
  const state = 'Exited' as const
  if (!/^\d+$/.test(first)) {
    // KILL takes the shim too, and so does a restart of the machine.
    return { state, exitCode: 137, reason: 'Error', message: wasKilled, finishedAt }
  }
  const exitCode = Number(first)
  const reason =
    exitCode === 0 ? 'Completed' : exitCode === 126 || exitCode === 127 ? 'ContainerCannotRun' : 'Error'
  return { state, exitCode, reason, finishedAt, ...(message.length > 0 && { message: message.join('\n') }) }
}

async function modifiedAt(path: string, disk: Disk): Promise<number | undefined> {
  try {
    return (await disk.stat(path)).modified
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Never half a file, whatever happens. */
export async function writeWhole(path: string, text: string, disk: Disk): Promise<void> {
  await disk.write(`${path}.new`, text, { mode: 0o600 })
  await disk.rename(`${path}.new`, path)
}
