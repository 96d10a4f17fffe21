import { posix } from 'node:path'
import { systemCode } from '../../errors.ts'
import type { Clock, Disk, FileStat, Log, Timer } from '../../ports.ts'
import { refusal, warning } from '../manifest/finding.ts'
import { largestManifest } from '../manifest/read-manifest.ts'
import type { FileReading } from './desired-pods.ts'

/** Milliseconds to the next full look (the kubelet's fileCheckFrequency); shorter where the disk cannot tell of changes. */
const relistInterval = 20_000
const pollInterval = 1000
/** Milliseconds after a change: an editor writes in several steps. Where changes never cease it is looked all the same. */
const debounce = 100
const longestDebounce = 1000
/** Milliseconds for which a file may change without another time of change: that of a disk is coarse. */
const coarse = 2000
const manifestName = /\.(ya?ml|json)$/

export interface ManifestDirectoryOptions {
  path: string
  disk: Disk
  clock: Clock
  log: Log
  /** All files of the directory as they are now. Called again only when something changed. */
  onReadings(readings: readonly FileReading[]): void
  /** `trouble` is another one. */
  onTrouble(): void
}

/** A file as it was read, and what it was by then. */
interface KnownFile {
  stat: FileStat
  reading: FileReading
}

/**
 * Follows a directory of manifests: looks at once, after each change that the disk tells of, and every 20 s. A directory
 * that is not there is an empty one, and may come later. Unlike a kubelet it takes only *.yaml, *.yml and *.json. Where
 * nothing was told and a file is as it was, it is not read again: an agent with nothing to do is to sleep.
 */
export class ManifestDirectory {
  readonly #options: ManifestDirectoryOptions
  #timer: Timer | undefined
  #watch: { close(): void } | undefined
  #looking: Promise<void> = Promise.resolve()
  #stopped = false
  #last: string | undefined
  #lastLook: number | undefined
  #trouble: string | undefined
  /** By path, of the last look. */
  #known: ReadonlyMap<string, KnownFile> = new Map()
  /** Since when a change is told of that was not looked at, monotonic milliseconds: what is known counts for nothing. */
  #toldAt: number | undefined

  constructor(options: ManifestDirectoryOptions) {
    this.#options = options
  }

  /** Why it cannot be used; undefined: it can. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** When it could be read last, milliseconds since the epoch; undefined: never. */
  get lastLook(): number | undefined {
    return this.#lastLook
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
    if (this.#toldAt !== undefined) this.#known = new Map()
    this.#toldAt = undefined
    const readings = await this.#readAll()
    if (this.#stopped) return
    if (readings) this.#lastLook = this.#options.clock.now()
    // What was told of meanwhile may have been read before it happened.
    if (this.#toldAt === undefined) this.#schedule(this.#watch ? relistInterval : pollInterval)
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
      () => this.#changed(),
      () => {
        this.#watch = undefined
        this.#changed()
      },
    )
  }

  #changed(): void {
    if (this.#stopped) return
    const now = this.#options.clock.monotonic()
    this.#toldAt ??= now
    this.#schedule(Math.min(debounce, this.#toldAt + longestDebounce - now))
  }

  /** undefined: the directory cannot be looked at now; what runs goes on. */
  async #readAll(): Promise<FileReading[] | undefined> {
    const { disk, path } = this.#options
    let names: string[]
    try {
      const [found, folder] = await Promise.all([disk.list(path), statBehind(path, disk)])
      this.#troubled(isOpenToAll(folder) ? openToAll : undefined)
      if (this.#trouble !== undefined) return undefined
      names = found
    } catch (error) {
      const isMissing = systemCode(error) === 'ENOENT'
      this.#troubled(isMissing ? undefined : `cannot be read (${systemCode(error) ?? String(error)})`)
      return isMissing ? [] : undefined
    }
    const files = await Promise.all(
      names.filter(name => !name.startsWith('.')).map(name => this.#file(`${path}/${name}`, name)),
    )
    this.#known = new Map(
      files.flatMap(file => (file && 'stat' in file ? [[file.reading.path, file] as const] : [])),
    )
    return files.flatMap(file => (file === undefined ? [] : [file.reading]))
  }

  /** Said once, however often it is looked. */
  #troubled(why: string | undefined): void {
    const { path, log, onTrouble } = this.#options
    if (why === this.#trouble) return
    this.#trouble = why
    if (why !== undefined)
      log.error('the directory of static pods cannot be used; what runs goes on', { path, why })
    onTrouble()
  }

  async #file(path: string, name: string): Promise<KnownFile | Pick<KnownFile, 'reading'> | undefined> {
    const { disk, clock } = this.#options
    try {
      const stat = await disk.stat(path)
      const known = this.#known.get(path)
      if (known && isSame(known.stat, stat)) return known
      const began = clock.now()
      // What it leads to is judged as a file of the folder: a link to a pipe or a device may never end.
      const led = stat.kind === 'symlink' ? await statBehind(path, disk) : stat
      const reading = await this.#read(path, name, led)
      const isSettled = stat.changed !== undefined && began - stat.changed > coarse
      return reading && (isSettled && reading.text !== undefined ? { stat, reading } : { reading })
    } catch (error) {
      const code = systemCode(error)
      // Gone between list and read.
      if (code === 'ENOENT') return undefined
      const problem = refusal('Unreadable', `cannot be read (${code ?? 'it is not UTF-8'})`)
      return { reading: { path, problem } }
    }
  }

  /** undefined: it is none. Rejects as the disk does, or where it is no text. */
  async #read(path: string, name: string, file: FileStat): Promise<FileReading | undefined> {
    const { kind, size } = file
    if (kind === 'directory') return undefined
    if (!manifestName.test(name)) {
      const problem = warning('IgnoredFile', 'is left alone: its name ends neither in .yaml, .yml nor .json')
      return { path, problem }
    }
    if (kind !== 'file') return { path, problem: refusal('Unreadable', 'is no ordinary file') }
    if (isOpenToAll(file)) return { path, problem: refusal('OpenToAll', openToAll) }
    if (size > largestManifest)
      return { path, problem: refusal('Unreadable', `has ${size} bytes, more than 10 MiB`) }
    const bytes = await this.#options.disk.read(path)
    return { path, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  }
}

/** What a link leads to, over at most as many as Linux follows. Rejects with ENOENT where it leads nowhere, or in a circle. */
async function statBehind(path: string, disk: Disk): Promise<FileStat> {
  let at = path
  for (let links = 0; links < 40; links++) {
    const stat = await disk.stat(at)
    if (stat.kind !== 'symlink') return stat
    at = posix.resolve(posix.dirname(at), await disk.readlink(at))
  }
  throw Object.assign(new Error(`${path} leads in a circle`), { code: 'ELOOP' })
}

const openToAll = 'can be written by everybody on this machine, who could have it run anything (chmod o-w)'

function isOpenToAll({ mode }: FileStat): boolean {
  return (mode & 0o002) !== 0
}

/** A link says nothing of what it leads to, and is followed each time. */
function isSame(before: FileStat, now: FileStat): boolean {
  return (
    now.kind === 'file' &&
    before.kind === 'file' &&
    now.size === before.size &&
    now.modified === before.modified &&
    now.changed === before.changed
  )
}
