import type { Disk, Spawn } from '../../ports.ts'
import { notStarted } from '../not-started.ts'
import { revisionOf } from '../pod.ts'
import type { StartOrder } from '../runtime.ts'
import { podFolder } from '../state/pod-folder.ts'
import type { Cri } from './cri.ts'
import type { ImageArchives } from './image-archives.ts'
import { checkNonRoot, provideImage } from './images.ts'
import { type ConfigFacts, containerConfig, logsRoot } from './pod-config.ts'
import type { PodSandboxes } from './pod-sandboxes.ts'
import { prepareVolumes } from './pod-volumes.ts'
import { addressesOf, usableSandbox } from './read-runtime.ts'
import type { RuntimeWatch } from './runtime-watch.ts'

export interface StartPorts {
  cri: Cri
  watch: RuntimeWatch
  sandboxes: PodSandboxes
  facts: ConfigFacts
  disk: Disk
  spawn: Spawn
  /** Where images may be on the disk; absent: nowhere. */
  archives: ImageArchives | undefined
  /** The agent ends. */
  signal: AbortSignal
}

/** One run of a container, with all that has to be there before. */
export async function startContainer(order: StartOrder, ports: StartPorts): Promise<void> {
  const { cri, watch, sandboxes, facts, disk, archives } = ports
  const { pod, container } = order
  // The runtime appends to the log, and makes no folder for it.
  await disk.makeDirectory(`${podFolder(logsRoot(facts.stateDirectory), pod)}/${container.name}`, 0o755)
  const usable = usableSandbox(watch.contents, pod.metadata.uid, revisionOf(pod))
  const problem = pod.spec.hostNetwork || usable ? undefined : await watch.networkProblem()
  if (problem !== undefined) throw notStarted('NetworkNotReady', networkMissing(problem), 'network')
  const provide = () => sandboxes.provide(pod, facts)
  // The runtime's own image for sandboxes may be in an archive too.
  const provided = provide().catch(async error => {
    if (!(await archives?.importNew())) throw error
    return provide()
  })
  const [sandbox] = await Promise.all([provided, prepareVolumes(pod, facts, ports)])
  const image = await provideImage(cri, container, sandbox.config, ports)
  checkNonRoot(pod, container, image)
  const [podAddress] = pod.spec.hostNetwork ? [] : await addressesOf(cri, sandbox.id)
  const config = containerConfig(order, { ...facts, podAddress }, image.uid?.value)
  const id = await cri.createContainer(sandbox.id, config, sandbox.config)
  try {
    await cri.startContainer(id)
  } catch (error) {
    await watch.refresh()
    // The runtime keeps it as a run that ended at once, with what it said.
    if (!watch.contents.records.has(id)) throw error
  }
}

function networkMissing(why: string): string {
  return `The container runtime has no network for pods yet (${why}); set up a CNI plugin, or say hostNetwork: true.`
}
