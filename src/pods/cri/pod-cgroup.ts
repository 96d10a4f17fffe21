import { systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import type { StaticPod } from '../pod.ts'
import { qosClass } from './resources.ts'

export type CgroupDriver = 'cgroupfs' | 'systemd'

const hierarchies = '/sys/fs/cgroup'

/** Where the pod's cgroup lies; the same place as a kubelet's, which can then adopt the pod (static-pods.md 7). */
export function cgroupParent(pod: StaticPod, driver: CgroupDriver): string {
  const qos = qosClass(pod)
  const { uid } = pod.metadata
  const names = ['kubepods', ...(qos === 'guaranteed' ? [] : [qos])]
  if (driver === 'cgroupfs') return `/${[...names, `pod${uid}`].join('/')}`
  // A slice is named by its whole path, with - between the steps, so a - of the uid must be another sign.
  const steps = [...names, `pod${uid.replaceAll('-', '_')}`]
  return `/${steps.map((_, n) => `${steps.slice(0, n + 1).join('-')}.slice`).join('/')}`
}

/** Removes the pod's empty cgroups, which the runtime makes and leaves; systemd removes its own. */
export async function removeCgroup(pod: StaticPod, disk: Disk): Promise<void> {
  const parent = cgroupParent(pod, 'cgroupfs')
  const names = await disk.list(hierarchies).catch(() => [])
  for (const path of [`${hierarchies}${parent}`, ...names.map(name => `${hierarchies}/${name}${parent}`)]) {
    try {
      await disk.removeDirectory?.(path)
    } catch (error) {
      if (!['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) throw error
    }
  }
}
