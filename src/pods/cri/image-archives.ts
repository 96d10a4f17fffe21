import { systemCode } from '../../errors.ts'
import type { Disk, FileStat, Log, Spawn } from '../../ports.ts'

export interface ImageArchivesOptions {
  /** Where they are, `*.tar`; need not exist. */
  directory: string
  /** `unix:///path` of containerd. */
  endpoint: string
  disk: Disk
  spawn: Pick<Spawn, 'run'>
  log: Log
  /** The agent ends. */
  signal: AbortSignal
}

/** containerd's own client, which its packages bring; CRI has no call that takes an image. */
const ctr = '/usr/bin/ctr'
/** The containerd namespace of what CRI shows. */
const namespace = 'k8s.io'
const mostOutput = 10 * 1024

/**
 * Images on the disk, for a machine that reaches no registry. They are imported only when one is missing, so nothing
 * waits for them that has its image already.
 */
export class ImageArchives {
  readonly #options: ImageArchivesOptions
  /** As they were imported, by path. */
  readonly #imported = new Map<string, string>()
  readonly #said = new Set<string>()
  #importing: Promise<boolean> = Promise.resolve(false)

  constructor(options: ImageArchivesOptions) {
    this.#options = options
  }

  /** Imports what is new since the last time. Resolves with whether there was something; what cannot be is said once. */
  importNew(): Promise<boolean> {
    this.#importing = this.#importing.then(() => this.#importAll())
    return this.#importing
  }

  async #importAll(): Promise<boolean> {
    const { directory, disk } = this.#options
    let isNew = false
    try {
      const names = (await disk.list(directory)).filter(name => name.endsWith('.tar'))
      if (names.length > 0 && isOpen(await disk.stat(directory)))
        this.#say(directory, 'can be written by others than its owner, and is not used')
      else for (const name of names) isNew = (await this.#import(`${directory}/${name}`)) || isNew
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') this.#say(directory, String(error))
    }
    return isNew
  }

  async #import(path: string): Promise<boolean> {
    const { disk, spawn, endpoint, log, signal } = this.#options
    const found = await disk.stat(path)
    const version = `${found.size} ${found.modified} ${found.changed}`
    if (signal.aborted || this.#imported.get(path) === version) return false
    if (found.kind !== 'file' || isOpen(found)) {
      this.#say(path, 'is no file that its owner alone can write, and is not used')
      return false
    }
    const args = ['-a', endpoint.replace(/^unix:\/\//, ''), '-n', namespace, 'images', 'import', path]
    try {
      const order = { command: ctr, args, environment: {}, directory: '/', mostOutput, signal }
      const { code, stderr } = await spawn.run(order)
      if (code !== 0) throw new Error(`exit code ${code}: ${new TextDecoder().decode(stderr).trim()}`)
      this.#imported.set(path, version)
      log.info('images were imported', { path })
      return true
    } catch (error) {
      this.#say(path, `cannot be imported by ${ctr}, which comes with containerd (${error})`)
      return false
    }
  }

  #say(path: string, why: string): void {
    const text = `${path} ${why}`
    if (!this.#said.has(text)) this.#options.log.warn('an archive of images is not used', { path, why })
    this.#said.add(text)
  }
}

function isOpen({ mode }: FileStat): boolean {
  return (mode & 0o022) !== 0
}
