import type { Disk, SpawnOrder } from '../../ports.ts'
import type { NodeFacts } from '../environment.ts'
import { podKey, revisionOf } from '../pod.ts'
import type { StartOrder } from '../runtime.ts'
import { podFolder, volumeFolder } from '../state/pod-folder.ts'
import { removeTree } from '../state/remove-tree.ts'
import { processCommand } from './process-command.ts'
import { type RunFacts, runFolder, writeWhole } from './run-folder.ts'
import { shimOrder } from './shim.ts'

export interface RunPlace {
  /** Folders of the pods, and of their volumes. */
  root: string
  volumes: string
  node: NodeFacts
  /** User id of the agent. */
  agentUser: number
  disk: Disk
}

/** Which run of a container an order begins, at `now` (milliseconds since the epoch). */
export function factsOf({ pod, container, init, attempt, crashes }: StartOrder, now: number): RunFacts {
  const { uid } = pod.metadata
  return {
    id: `process://${uid}/${container.name}/${attempt}`,
    podKey: podKey(pod),
    podUid: uid,
    revision: revisionOf(pod),
    container: container.name,
    init,
    attempt,
    crashes,
    startedAt: now,
  }
}

/** Makes the run's folder and the pod's volumes. Resolves with the folder, and with what is to be started. */
export async function prepareRun(
  { pod, container }: StartOrder,
  facts: RunFacts,
  { root, volumes, node, agentUser, disk }: RunPlace,
): Promise<{ folder: string; shim: SpawnOrder & { output: string } }> {
  const folder = runFolder(podFolder(root, pod), facts)
  // Left by an agent that died before the shim began: it finds no folder and ends.
  await removeTree(folder, disk)
  await disk.makeDirectory(folder, 0o700)
  await writeWhole(`${folder}/run.json`, JSON.stringify(facts), disk)
  for (const { name, emptyDir } of pod.spec.volumes ?? []) {
    if (emptyDir) await disk.makeDirectory(volumeFolder(volumes, pod, name), 0o700)
  }
  const { prefix, command, environment, directory } = processCommand(pod, container, {
    ...node,
    agentUser,
    volumesRoot: volumes,
  })
  const shim = shimOrder(folder, [...prefix, ...command])
  return { folder, shim: { ...shim, environment, directory, output: `${folder}.log` } }
}
