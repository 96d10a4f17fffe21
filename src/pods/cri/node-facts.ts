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

/**
 * Who makes cgroups here: both sides must agree, or the runtime refuses each pod. Newer runtimes say it, containerd 1.6
 * shows it in its configuration; else it is cgroupfs.
 */
export async function cgroupDriverOf(
  cri: Cri,
  info: Readonly<Record<string, string>>,
): Promise<CgroupDriver> {
  try {
    const { linux } = await cri.runtimeConfig()
    if (linux) return linux.cgroupDriver === 0 ? 'systemd' : 'cgroupfs'
  } catch (error) {
    if (!isUnimplemented(error)) throw error
  }
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
