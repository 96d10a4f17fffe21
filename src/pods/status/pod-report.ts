import { type Clock, type Disk, type Log, sleep } from '../../ports.ts'
import { latestOf } from '../lifecycle/plan-pod.ts'
import { annotations, podKey } from '../pod.ts'
import type { ContainerRecord, Runtime, RuntimeCondition } from '../runtime.ts'
import type { FileFinding } from '../sources/desired-pods.ts'
import type { StaticPods } from '../static-pods.ts'
import { type PodStatus, podStatus } from './pod-status.ts'

/** What `rollcall pods` reads: the static pods of this machine, whether or not any API is there. */
export interface StaticPodReport {
  /** RFC 3339. */
  writtenAt: string
  /** What runs them. */
  runtime: { name: string; conditions: readonly RuntimeCondition[] }
  /** Why no pod can run at all. */
  runtimeProblem?: string
  pods: ReportedPod[]
  findings: readonly FileFinding[]
}

export interface ReportedPod {
  namespace: string
  name: string
  uid: string
  manifest: string
  status: PodStatus
  /** Of the last run of each container. */
  logs: readonly { container: string; attempt: number; path: string; format: 'raw' | 'cri' }[]
}

export const reportName = 'report.json'

/** Milliseconds between two writes: a pod that starts changes several times. */
const shortestInterval = 50

export interface PodReportOptions {
  stateDirectory: string
  pods: StaticPods
  runtime: Runtime
  disk: Disk
  clock: Clock
  log: Log
  hostAddress(): string | undefined
}

/** Keeps the report on disk up to date (mode 0600, in a folder of mode 0700). */
export class PodReport {
  readonly #options: PodReportOptions
  readonly #stopping = new AbortController()
  #writing: Promise<void> | undefined
  #wanted = false
  #last = ''

  constructor(options: PodReportOptions) {
    this.#options = options
  }

  /** Something may have changed. */
  update(): void {
    this.#wanted = true
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined
      if (this.#wanted) this.update()
    })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#writing
  }

  async #write(): Promise<void> {
    const { disk, clock, log, stateDirectory } = this.#options
    while (this.#wanted) {
      this.#wanted = false
      const contents = this.#contents()
      const text = JSON.stringify(contents)
      if (text !== this.#last) {
        try {
          const report: StaticPodReport = { writtenAt: new Date(clock.now()).toISOString(), ...contents }
          const path = `${stateDirectory}/${reportName}`
          await disk.makeDirectory(stateDirectory, 0o700)
          await disk.write(`${path}.new`, JSON.stringify(report), { mode: 0o600 })
          await disk.rename(`${path}.new`, path)
          this.#last = text
        } catch (error) {
          log.warn('the report of the static pods cannot be written', { error: String(error) })
        }
      }
      await sleep(clock, shortestInterval, this.#stopping.signal)
    }
  }

  #contents(): Omit<StaticPodReport, 'writtenAt'> {
    const { pods, runtime, hostAddress } = this.#options
    const address = hostAddress()
    const { name, logFormat: format = 'raw' } = runtime
    return {
      runtime: { name, conditions: runtime.conditions?.() ?? [] },
      ...(pods.runtimeProblem !== undefined && { runtimeProblem: pods.runtimeProblem }),
      pods: pods.views().map(view => {
        const { metadata } = view.pod
        const records = runtime.containers().filter(record => record.podKey === podKey(view.pod))
        return {
          namespace: metadata.namespace,
          name: metadata.name,
          uid: metadata.uid,
          manifest: metadata.annotations[annotations.manifest] ?? '',
          status: podStatus(view, address),
          logs: lastRuns(records).map(record => ({
            container: record.container,
            attempt: record.attempt,
            path: runtime.logPath(record),
            format,
          })),
        }
      }),
      findings: pods.findings(),
    }
  }
}

function lastRuns(records: readonly ContainerRecord[]): ContainerRecord[] {
  const names = [...new Set(records.map(({ container }) => container))].sort()
  return names.flatMap(name => latestOf(records, name) ?? [])
}
