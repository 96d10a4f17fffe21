import type { Clock } from '../ports.ts'

export interface Watchdog {
  /** Aborts when the silence lasted too long, or when the parent aborts. */
  readonly signal: AbortSignal
  /** Whether it was the silence. */
  fired(): boolean
  /** Allows only this many milliseconds of silence from the next sign of life on; never more than at the start. */
  expectWithin(milliseconds: number): void
  /** A sign of life. */
  seen(): void
  stop(): void
}

/** Ends work that stays silent for `allowed` milliseconds: TCP does not notice a peer that vanished. */
export function createWatchdog(clock: Clock, parent: AbortSignal, allowed: number): Watchdog {
  const abort = new AbortController()
  const onParent = () => abort.abort()
  let within = allowed
  let fired = false
  const arm = () =>
    clock.after(within, () => {
      fired = true
      abort.abort()
    })

  let timer = arm()
  if (parent.aborted) abort.abort()
  parent.addEventListener('abort', onParent)
  return {
    signal: abort.signal,
    fired: () => fired,
    expectWithin(milliseconds) {
      within = Math.min(allowed, milliseconds)
    },
    seen() {
      timer.cancel()
      timer = arm()
    },
    stop() {
      timer.cancel()
      parent.removeEventListener('abort', onParent)
    },
  }
}
