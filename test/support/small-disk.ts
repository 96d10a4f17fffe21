import { spawnSync } from 'node:child_process'

const succeeds = (command: string, ...args: string[]) =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0

/** Mounting needs root, or sudo that asks for no password. */
const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n']

const run = (...args: string[]) => {
  const [command = '', ...rest] = [...asRoot, ...args]
  return succeeds(command, ...rest)
}

export interface SmallDisk {
  /** Nothing can be written any more. False when it could not be done. */
  makeReadOnly(): boolean
  unmount(): void
}

/** A file system in memory of `size` (`8m`) at an empty folder; undefined where it cannot be mounted. */
export function mountSmallDisk(path: string, size: string): SmallDisk | undefined {
  if (!run('mount', '-t', 'tmpfs', '-o', `size=${size},mode=1777`, 'tmpfs', path)) return undefined
  return {
    makeReadOnly: () => run('mount', '-o', 'remount,ro', path),
    unmount: () => {
      if (!run('umount', path)) throw new Error(`${path} cannot be unmounted`)
    },
  }
}

/** Why none can be mounted; undefined where that can be tried. */
export const withoutSmallDisk = () => (run('true') ? undefined : noSmallDisk)

export const noSmallDisk = 'a small file system cannot be mounted here: it needs root or sudo'
