import { systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import type { StaticPod } from '../pod.ts'

/** The folder of a pod under `root`, named as the kubelet names the folders of logs. */
export function podFolder(root: string, { metadata }: StaticPod): string {
  return `${root}/${metadata.namespace}_${metadata.name}_${metadata.uid}`
}

/** The folder of a volume that lives as long as its pod; beside the pods' own folders, as containers write in it. */
export function volumeFolder(volumesRoot: string, pod: StaticPod, volume: string): string {
  return `${podFolder(volumesRoot, pod)}/${volume}`
}

/** Names in a folder; none where it is not there. */
export async function listOrNothing(path: string, disk: Disk): Promise<string[]> {
  try {
    return await disk.list(path)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return []
    throw error
  }
}
