import { isRecord } from '../../kube/json.ts'
import type { Disk } from '../../ports.ts'
import { type Cri, isUnimplemented } from './cri.ts'
import type { CgroupDriver } from './pod-cgroup.ts'

/** Bytes, where /proc/meminfo cannot be read. */
const assumedMemory = 4 * 2 ** 30

/** Bytes of memory of this machine. */
export async function nodeMemory(disk: Disk): Promise<number> {
  const text = await disk.read('/proc/meminfo').then(
    bytes => new TextDecoder().decode(bytes),
    () => '',
  )
  const kibibytes = Number(/^MemTotal:\s+(\d+) kB/m.exec(text)?.[1])
  return kibibytes > 0 ? kibibytes * 1024 : assumedMemory
}

/** Who makes cgroups, as newer runtimes say it: both sides must agree, or the runtime refuses each pod. */
export async function saidCgroupDriver(cri: Cri): Promise<CgroupDriver | undefined> {
  try {
    const { linux } = await cri.runtimeConfig()
    return linux && (linux.cgroupDriver === 0 ? 'systemd' : 'cgroupfs')
  } catch (error) {
    if (isUnimplemented(error)) return undefined
    throw error
  }
}

/** The same where it does not say it: containerd 1.6 shows its configuration. Else it is cgroupfs. */
export function configuredCgroupDriver(info: Readonly<Record<string, string>>): CgroupDriver {
  return containerdUsesSystemd(info.config ?? '') ? 'systemd' : 'cgroupfs'
}

function containerdUsesSystemd(config: string): boolean {
  let at: unknown
  try {
    at = JSON.parse(config)
  } catch {
    return false
  }
  const containerd = isRecord(at) ? at.containerd : undefined
  if (!isRecord(containerd) || !isRecord(containerd.runtimes)) return false
  const runtime = containerd.runtimes[String(containerd.defaultRuntimeName)]
  const options = isRecord(runtime) ? runtime.options : undefined
  return isRecord(options) && options.SystemdCgroup === true
}
