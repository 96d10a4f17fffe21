import { spawnSync } from 'node:child_process'
import { globSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import { systemCode } from '../../src/errors.ts'
import { systemSpawn } from '../../src/host/spawn.ts'

// Everything here is synchronous, as it also runs when a test is interrupted.

/** Ends the shims and the containers of the containerd in this folder, each by its own process id, and unmounts what it mounted. */
export function endLeftovers(folder: string): void {
  for (const path of globSync('/proc/[0-9]*')) {
    const isShim = () => {
      const text = readOrNothing(join(path, 'cmdline'))
      return text.includes('containerd-shim') && text.includes(folder)
    }
    // The root of a container is an overlay over layers in the folder.
    const isContained = () =>
      readOrNothing(join(path, 'mountinfo'))
        .split('\n')
        .some(line => line.split(' ')[4] === '/' && line.includes(`lowerdir=${folder}/`))
    if (isShim() || isContained()) systemSpawn.signal(Number(path.split('/')[2]), 'SIGKILL')
  }
  unmountBelow(folder)
}

export function unmountBelow(folder: string): void {
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' ')[1] ?? '')
    .filter(target => target.startsWith(`${folder}/`))
  for (const target of mounts.reverse()) spawnSync('/usr/bin/umount', ['-l', target])
}

/** The empty folders of cgroups that runc made above the pods'; those of others are not empty and stay. */
export function removeCgroups(): void {
  for (const hierarchy of readdirSync('/sys/fs/cgroup')) {
    for (const path of ['kubepods/besteffort', 'kubepods/burstable', 'kubepods', 'k8s.io']) {
      try {
        rmdirSync(join('/sys/fs/cgroup', hierarchy, path))
      } catch (error) {
        if (!['ENOENT', 'EBUSY', 'ENOTEMPTY', 'ENOTDIR'].includes(systemCode(error) ?? '')) throw error
      }
    }
  }
}

/** Processes come and go. */
function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EINVAL'].includes(systemCode(error) ?? '')) return ''
    throw error
  }
}
