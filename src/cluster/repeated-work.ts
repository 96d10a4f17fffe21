import type { Clock, Log, Timer } from '../ports.ts'

export interface RepeatedWork {
  clock: Clock
  log: Log
  /** Milliseconds until the first time. */
  first: number
  /** Resolves with the milliseconds until the next time. */
  work(): Promise<number>
  /** What is logged when it fails; it is then tried again in a minute. */
  failure: string
}

const RETRY_AFTER = 60_000

/** Does something again and again until it is stopped; what is under way then ends by itself and is not followed. */
export function startRepeatedWork({ clock, log, first, work, failure }: RepeatedWork): { stop(): void } {
  let stopped = false
  let timer: Timer | undefined
  function after(milliseconds: number): void {
    if (!stopped) timer = clock.after(milliseconds, run)
  }
  function run(): void {
    work().then(after, error => {
      log.error(failure, { error: String(error) })
      after(RETRY_AFTER)
    })
  }
  after(first)
  return {
    stop() {
      stopped = true
      timer?.cancel()
    },
  }
}
