/** A run in a thread of its own, watched from outside: one that hangs or dies is a finding too. */
import { Worker } from 'node:worker_threads'
import type { FuzzResult } from './run.ts'

export interface WatchedRun extends FuzzResult {
  findings: string[]
  /** Megabytes of heap after the first thousands of cases and at the end, garbage collected. */
  heap: { early: number; late: number }
}

export interface RunOptions {
  seed: number
  from?: number
  /** Ends after so many seconds or cases, whichever comes first. */
  seconds: number
  cases?: number
}

export type FromThread =
  | { type: 'finding'; finding: string }
  | { type: 'done'; result: FuzzResult; heap: WatchedRun['heap'] }

/** Megabytes of heap that a run may end with more than it began. */
export const HEAP_GROWTH = 80
/** A case that is not done after this many milliseconds hangs. */
const HANG = 30_000

export function watchedRun(options: RunOptions): Promise<WatchedRun> {
  const current = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(new URL('./thread.ts', import.meta.url), {
    workerData: { ...options, current: current.buffer },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  })
  const findings: string[] = []
  return new Promise(resolve => {
    let last = -1
    let result: FuzzResult = { cases: 0, statuses: {}, slowest: 0 }
    let heap = { early: 0, late: 0 }
    const timer = setInterval(() => {
      const now = Atomics.load(current, 0)
      if (now === last) {
        findings.push(`case ${now} hangs`)
        void worker.terminate()
      }
      last = now
    }, HANG)
    worker.on('message', (message: FromThread) => {
      if (message.type === 'finding') findings.push(message.finding)
      else ({ result, heap } = message)
    })
    worker.on('error', error =>
      findings.push(`case ${Atomics.load(current, 0)} ended the thread: ${error.stack}`),
    )
    worker.on('exit', () => {
      clearInterval(timer)
      resolve({ ...result, findings, heap })
    })
  })
}
