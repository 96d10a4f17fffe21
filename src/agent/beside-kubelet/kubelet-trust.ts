import { posix } from 'node:path'
import { systemCode } from '../../errors.ts'
import { bootIdPath, type ProcessIdentity, readText } from '../../pods/state/process-identity.ts'
import type { Clock, Disk, Log, Timer } from '../../ports.ts'
import type { ReportedTrust } from '../../trust/trust-report.ts'
import { replaceFile } from './kubelet-files.ts'
import type { KubeletUnit } from './kubelet-unit.ts'

/** A bundle of the API server's CAs. */
export interface TrustedBundle {
  generation: number
  digest: string
}

/** A moment that no clock that is set can move. */
interface Moment {
  bootId: string
  /** Hundredths of a second since the machine started, as /proc tells starts of processes. */
  ticks: number
}

/** What outlives the agent. */
interface Memory {
  /** When the file that the kubelet reads at its start came to hold each bundle, oldest first. */
  written: (TrustedBundle & Moment)[]
  restarted?: Moment
}

export interface KubeletTrustOptions {
  unit: Pick<KubeletUnit, 'process' | 'restart'>
  disk: Disk
  clock: Clock
  log: Log
  /** Where it is remembered. */
  directory: string
  /** The kubelet has loaded another bundle, or is another process. */
  onChange(): void
}

export type KubeletReport = Pick<ReportedTrust, 'generation' | 'digest' | 'instance' | 'loadedAt'>

/** Ticks between two restarts of a kubelet that runs. */
const betweenRestarts = 60_000
const mostWritten = 8
/** Milliseconds. */
const afterFailure = 30_000

/**
 * Which CAs the kubelet beside trusts: it reads their file once, when it starts (K-60), so a newer file is not trust until
 * another process runs. What the API may order is a restart and no more; whether and when, is decided here: not before the
 * time that was given, only where the file holds what the process has not loaded, and of a kubelet that runs at most one in
 * ten minutes. One that does not run is started: that undoes a restart it did not survive.
 */
export class KubeletTrust {
  readonly #options: KubeletTrustOptions
  #memory: Promise<Memory> | undefined
  #report: KubeletReport | undefined
  #timer: Timer | undefined
  #working: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(options: KubeletTrustOptions) {
    this.#options = options
  }

  /** What the process that runs has loaded; undefined: nothing that is known. */
  get report(): KubeletReport | undefined {
    return this.#report
  }

  /** From now on the file holds this bundle. */
  wrote({ generation, digest }: TrustedBundle): void {
    this.#inTurn(async () => {
      const memory = await this.#recall()
      const last = memory.written.at(-1)
      if (last?.generation === generation && last.digest === digest) return
      const entry = { generation, digest, ...(await this.#now()) }
      await this.#remember({ ...memory, written: [...memory.written, entry].slice(-mostWritten) })
      await this.#look()
    })
  }

  /** Looks which process runs. */
  look(): void {
    this.#inTurn(() => this.#look())
  }

  /** The API asks for a restart, not before this moment (milliseconds since the epoch). */
  restart(notBefore: number): void {
    this.#timer?.cancel()
    if (this.#stopped) return
    const { clock } = this.#options
    const run = () => this.#inTurn(() => this.#restart(notBefore))
    this.#timer = clock.after(Math.max(0, notBefore - clock.now()), run)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#working
  }

  #inTurn(work: () => Promise<void>): void {
    this.#working = this.#working.then(async () => {
      if (this.#stopped) return
      try {
        await work()
      } catch (error) {
        this.#options.log.warn('what the kubelet beside trusts is not known now', { error: String(error) })
      }
    })
  }

  async #look(): Promise<void> {
    const process = await this.#options.unit.process()
    const { written } = await this.#recall()
    const loaded = process && written.findLast(entry => isBefore(entry, process))
    const before = this.#report
    this.#report = loaded && process && (await this.#reportOf(loaded, process))
    const shown = (report: KubeletReport | undefined) =>
      report && `${report.generation} ${report.digest} ${JSON.stringify(report.instance)}`
    if (shown(before) !== shown(this.#report)) this.#options.onChange()
  }

  async #reportOf(
    { generation, digest }: TrustedBundle,
    { processId: pid, startTicks, bootId: bootID }: ProcessIdentity,
  ): Promise<KubeletReport> {
    const { ticks } = await this.#now()
    const loadedAt = Math.round(this.#options.clock.now() - 10 * (ticks - Number(startTicks)))
    return { generation, digest, instance: { bootID, pid, startTicks: Number(startTicks) }, loadedAt }
  }

  async #restart(notBefore: number): Promise<void> {
    const { unit, log, clock } = this.#options
    await this.#look()
    const memory = await this.#recall()
    const newest = memory.written.at(-1)
    if (!newest || newest.generation === this.#report?.generation) return
    const [process, now] = [await unit.process(), await this.#now()]
    const since = memory.restarted?.bootId === now.bootId ? now.ticks - memory.restarted.ticks : Infinity
    if (process && since < betweenRestarts) {
      const seconds = Math.ceil((betweenRestarts - since) / 100)
      log.warn('the kubelet is not restarted twice in ten minutes; it is done then', { seconds })
      return this.restart(Math.max(notBefore, clock.now() + seconds * 1000))
    }
    // Before it is done: an agent that dies in between does not do it again at once.
    await this.#remember({ ...memory, restarted: now })
    log.info('the kubelet is restarted, to load the CAs of the API', { generation: newest.generation })
    try {
      await unit.restart()
    } catch (error) {
      log.error('the kubelet cannot be restarted; it is tried again', { error: String(error) })
      this.restart(clock.now() + afterFailure)
    }
    await this.#look()
  }

  async #now(): Promise<Moment> {
    const { disk } = this.#options
    const [uptime = '', bootId = ''] = await Promise.all([
      readText('/proc/uptime', disk),
      readText(bootIdPath, disk),
    ])
    return { bootId, ticks: Math.round(Number.parseFloat(uptime) * 100) }
  }

  get #path(): string {
    return posix.join(this.#options.directory, 'kubelet-trust.json')
  }

  #recall(): Promise<Memory> {
    this.#memory ??= this.#read()
    return this.#memory
  }

  async #read(): Promise<Memory> {
    const { disk, log } = this.#options
    try {
      const memory = JSON.parse(new TextDecoder().decode(await disk.read(this.#path))) as Memory
      if (Array.isArray(memory.written)) return memory
    } catch (error) {
      // Nothing is known then, and nothing is claimed.
      if (systemCode(error) !== 'ENOENT')
        log.warn('what was known of the kubelet is lost', { path: this.#path, error: String(error) })
    }
    return { written: [] }
  }

  async #remember(memory: Memory): Promise<void> {
    await replaceFile(this.#options.disk, this.#path, JSON.stringify(memory), 0o600)
    this.#memory = Promise.resolve(memory)
  }
}

/** Whether the process started after that moment: one of another boot did, as the file was there before. */
function isBefore({ bootId, ticks }: Moment, process: ProcessIdentity): boolean {
  return bootId !== process.bootId || Number(process.startTicks) > ticks
}
