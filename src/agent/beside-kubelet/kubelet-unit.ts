import { RollcallError } from '../../errors.ts'
import {
  bootIdPath,
  isRunning,
  type ProcessIdentity,
  parseStat,
  readText,
} from '../../pods/state/process-identity.ts'
import type { Disk, Spawn } from '../../ports.ts'

const systemctl = '/usr/bin/systemctl'
const mostOutput = 10 * 1024

export interface KubeletUnitOptions {
  /** What systemd calls it; only the agent's own configuration says so. */
  unit: string
  disk: Disk
  spawn: Pick<Spawn, 'run'>
}

/** The kubelet as systemd runs it: which process it is, and its restart. */
export class KubeletUnit {
  readonly #options: KubeletUnitOptions
  #known: ProcessIdentity | undefined

  constructor(options: KubeletUnitOptions) {
    this.#options = options
  }

  /** undefined: none runs. Rejects with KUBELET_UNIT_FAILED. */
  async process(): Promise<ProcessIdentity | undefined> {
    const { disk, unit } = this.#options
    // Asked of systemd only when the one that was known has ended.
    if (this.#known && (await isRunning(this.#known, disk))) return this.#known
    const text = await this.#systemctl(['show', '--property=MainPID', '--value', unit])
    const processId = Number.parseInt(text, 10)
    this.#known = processId > 0 ? await this.#identityOf(processId) : undefined
    return this.#known
  }

  /** Resolves when it has been started. Rejects with KUBELET_UNIT_FAILED. */
  async restart(): Promise<void> {
    await this.#systemctl(['restart', this.#options.unit])
  }

  async #identityOf(processId: number): Promise<ProcessIdentity | undefined> {
    const { disk } = this.#options
    const [line = '', bootId = ''] = await Promise.all([
      readText(`/proc/${processId}/stat`, disk),
      readText(bootIdPath, disk),
    ])
    const stat = parseStat(line)
    return stat && { processId, startTicks: stat.startTicks, bootId }
  }

  async #systemctl(args: string[]): Promise<string> {
    const { spawn, unit } = this.#options
    let why: string
    try {
      const order = { command: systemctl, args, environment: {}, directory: '/', mostOutput }
      const { code, stdout, stderr } = await spawn.run(order)
      if (code === 0) return new TextDecoder().decode(stdout)
      why = `exit code ${code}: ${new TextDecoder().decode(stderr).trim()}`
    } catch (error) {
      why = String(error)
    }
    throw new RollcallError('KUBELET_UNIT_FAILED', `systemctl ${args[0]} ${unit}: ${why}`, { unit })
  }
}
