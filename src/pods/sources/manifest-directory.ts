import { systemCode } from '../../errors.ts'
import type { Clock, Disk, Log, Timer } from '../../ports.ts'
import { refusal, warning } from '../manifest/finding.ts'
import { largestManifest } from '../manifest/read-manifest.ts'
import type { FileReading } from './desired-pods.ts'

/** Milliseconds to the next full look (the kubelet's fileCheckFrequency); shorter where the disk cannot tell of changes. */
const relistInterval = 20_000
const pollInterval = 1000
/** Milliseconds after a change: an editor writes in several steps. */
const debounce = 100
const manifestName = /\.(ya?ml|json)$/

export interface ManifestDirectoryOptions {
  path: string
  disk: Disk
  clock: Clock
  log: Log
  /** All files of the directory as they are now. Called again only when something changed. */
  onReadings(readings: readonly FileReading[]): void
}

/**
 * Follows a directory of manifests: looks at once, after each change that the disk tells of, and every 20 s. A directory
 * that is not there is an empty one, and may come later. Unlike a kubelet it takes only *.yaml, *.yml and *.json.
 */
export class ManifestDirectory {
  readonly #options: ManifestDirectoryOptions
  #timer: Timer | undefined
  #watch: { close(): void } | undefined
  #looking: Promise<void> = Promise.resolve()
  #stopped = false
  #last: string | undefined

  constructor(options: ManifestDirectoryOptions) {
    this.#options = options
  }

  /** Resolves after the first look. Never rejects. */
  start(): Promise<void> {
    return this.#look()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    this.#watch?.close()
    await this.#looking
  }

  #look(): Promise<void> {
    this.#timer?.cancel()
    this.#looking = this.#looking.then(() => this.#lookOnce())
    return this.#looking
  }

  async #lookOnce(): Promise<void> {
    if (this.#stopped) return
    // The watch comes first: what changes after the list is then told. A new one each time, as another folder may have
    // taken the place of the one that was watched.
    this.#watch?.close()
    this.#watch = this.#startWatch()
    const readings = await this.#readAll()
    if (this.#stopped) return
    this.#schedule(this.#watch ? relistInterval : pollInterval)
    const seen = JSON.stringify(readings)
    if (readings === undefined || seen === this.#last) return
    this.#last = seen
    this.#options.onReadings(readings)
  }

  #schedule(milliseconds: number): void {
    this.#timer?.cancel()
    this.#timer = this.#options.clock.after(milliseconds, () => void this.#look())
  }

  #startWatch(): { close(): void } | undefined {
    const { disk, path } = this.#options
    return disk.watch?.(
      path,
      () => {
        if (!this.#stopped) this.#schedule(debounce)
      },
      () => {
        this.#watch = undefined
        if (!this.#stopped) this.#schedule(pollInterval)
      },
    )
  }

  /** undefined: the directory cannot be looked at now; what runs goes on. */
  async #readAll(): Promise<FileReading[] | undefined> {
    const { disk, path, log } = this.#options
    let names: string[]
    try {
      names = await disk.list(path)
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return []
      log.warn('the directory of static pods cannot be read', { path, error: String(error) })
      return undefined
    }
    const readings: FileReading[] = []
    for (const name of names) {
      const reading = name.startsWith('.') ? undefined : await this.#read(`${path}/${name}`, name)
      if (reading) readings.push(reading)
    }
    return readings
  }

  async #read(path: string, name: string): Promise<FileReading | undefined> {
    const { disk } = this.#options
    try {
      const { kind, size } = await disk.stat(path)
      if (kind === 'directory') return undefined
      if (!manifestName.test(name)) {
        const problem = warning(
          'IgnoredFile',
          'is left alone: its name ends neither in .yaml, .yml nor .json',
        )
        return { path, problem }
      }
      if (kind === 'other') return { path, problem: refusal('Unreadable', 'is no ordinary file') }
      if (size > largestManifest)
        return { path, problem: refusal('Unreadable', `has ${size} bytes, more than 10 MiB`) }
      return { path, text: new TextDecoder('utf-8', { fatal: true }).decode(await disk.read(path)) }
    } catch (error) {
      const code = systemCode(error)
      // Gone between list and read.
      if (code === 'ENOENT') return undefined
      return { path, problem: refusal('Unreadable', `cannot be read (${code ?? 'it is not UTF-8'})`) }
    }
  }
}
