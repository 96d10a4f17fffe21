/** Volumes that live as long as their pod: emptyDir, on disk or in memory, and downwardAPI. */
import { RollcallError } from '../../errors.ts'
import type { Disk, Spawn } from '../../ports.ts'
import { fieldOf } from '../environment.ts'
import { parseQuantity } from '../manifest/quantity.ts'
import type { StaticPod, Volume } from '../pod.ts'
import { listOrNothing, podFolder, volumeFolder } from '../state/pod-folder.ts'
import { removeTree } from '../state/remove-tree.ts'
import { type ConfigFacts, logsRoot, volumesRoot } from './pod-config.ts'

export interface VolumePorts {
  disk: Disk
  spawn: Spawn
}

/** Makes them; what is there stays as it is. */
export async function prepareVolumes(pod: StaticPod, facts: ConfigFacts, ports: VolumePorts): Promise<void> {
  for (const volume of pod.spec.volumes ?? []) {
    if (volume.hostPath) continue
    const folder = volumeFolder(volumesRoot(facts.stateDirectory), pod, volume.name)
    await ports.disk.makeDirectory(folder, 0o755)
    if (volume.emptyDir?.medium === 'Memory') await mountMemory(volume, folder, ports)
    // Any user of the pod may write there; nobody else gets so far, as the state folder is closed.
    if (volume.emptyDir && (await ports.disk.stat(folder)).mode !== 0o777)
      await run('/usr/bin/chmod', ['0777', folder], ports)
    if (volume.downwardAPI) await writeFields(volume.downwardAPI, folder, pod, facts, ports.disk)
  }
}

/** Unmounts and removes them, for good. */
export function removeVolumes(pod: StaticPod, stateDirectory: string, ports: VolumePorts): Promise<void> {
  return removeFolder(podFolder(volumesRoot(stateDirectory), pod), ports)
}

/** Volumes and logs of pods of which the runtime knows nothing any more: somebody removed them behind our back. */
export async function removeStrayFolders(
  pods: readonly StaticPod[],
  stateDirectory: string,
  ports: VolumePorts,
): Promise<void> {
  for (const root of [volumesRoot(stateDirectory), logsRoot(stateDirectory)]) {
    const known = new Set(pods.map(pod => podFolder(root, pod)))
    for (const name of await listOrNothing(root, ports.disk)) {
      if (!known.has(`${root}/${name}`)) await removeFolder(`${root}/${name}`, ports)
    }
  }
}

async function removeFolder(folder: string, ports: VolumePorts): Promise<void> {
  for (const name of await listOrNothing(folder, ports.disk)) {
    if (await isMounted(`${folder}/${name}`, ports.disk))
      await run('/usr/bin/umount', [`${folder}/${name}`], ports)
  }
  await removeTree(folder, ports.disk)
}

async function mountMemory({ emptyDir }: Volume, folder: string, ports: VolumePorts): Promise<void> {
  if (await isMounted(folder, ports.disk)) return
  const size = parseQuantity(emptyDir?.sizeLimit)
  const options = ['mode=0777', ...(size ? [`size=${Math.floor(size)}`] : [])]
  await run('/usr/bin/mount', ['-t', 'tmpfs', '-o', options.join(','), 'tmpfs', folder], ports)
}

async function isMounted(folder: string, disk: Disk): Promise<boolean> {
  const mounts = new TextDecoder().decode(await disk.read('/proc/self/mounts'))
  return mounts.split('\n').some(line => line.split(' ')[1] === folder.replaceAll(' ', '\\040'))
}

async function writeFields(
  { items = [] }: NonNullable<Volume['downwardAPI']>,
  folder: string,
  pod: StaticPod,
  facts: ConfigFacts,
  disk: Disk,
): Promise<void> {
  for (const { path, fieldRef } of items) {
    const file = `${folder}/${path}`
    await disk.makeDirectory(file.slice(0, file.lastIndexOf('/')), 0o755)
    await disk.write(file, fieldOf(fieldRef?.fieldPath ?? '', pod, facts), { mode: 0o644 })
  }
}

async function run(command: string, args: readonly string[], { spawn }: VolumePorts): Promise<void> {
  const order = { command, args, environment: {}, directory: '/', mostOutput: 4096 }
  const { code, stderr } = await spawn.run(order)
  if (code === 0) return
  const said = new TextDecoder().decode(stderr).trim()
  throw new RollcallError('POD_VOLUME_NOT_READY', `${command} ${args.join(' ')} failed: ${said}`)
}
