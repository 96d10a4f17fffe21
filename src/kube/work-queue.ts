import type { Clock, Log, Timer } from '../ports.ts'
import { PriorityQueue } from './priority-queue.ts'

/** C-2: an item that fails the n-th time in a row comes back after 200 ms · 2ⁿ, at most 1000 s. */
const FIRST_RETRY = 200
const LONGEST_RETRY = 1_000_000

export interface WorkQueueOptions {
  /** For log lines, e.g. the controller's name. */
  name: string
  /** How many keys are worked on at once; one key never twice at once. */
  workers: number
  clock: Clock
  log: Log
  /**
   * Brings one key to what it should be. Success forgets its failures; a rejection is logged and the key comes back
   * later (see `addRateLimited`). A returned number is the milliseconds after which to look again.
   */
  process(key: string, signal: AbortSignal): Promise<number | undefined> | Promise<void>
  /** Asked when a key begins to wait: of those that wait for a worker the smallest comes first. Absent: the oldest. */
  rank?(key: string): number
}

/** client-go's rate-limited work queue: keys, not events, so a burst of changes to one object is one piece of work. */
export interface WorkQueue {
  /** Wants the key worked on. While it waits this is nothing new; while it is worked on, it comes again afterwards. */
  add(key: string): void
  /** Adds the key after so many milliseconds; of several pending, the earliest counts. */
  addAfter(key: string, milliseconds: number): void
  /** Adds the key after a delay that doubles each time until `forget`. */
  addRateLimited(key: string): void
  forget(key: string): void
  /** Failures in a row since the last `forget`. */
  failures(key: string): number
  /** Keys that wait for a worker; those that wait for a time are not among them. */
  size(): number
  /** Takes no more work and resolves when the running pieces ended; their signal is aborted. */
  stop(): Promise<void>
}

export function startWorkQueue(options: WorkQueueOptions): WorkQueue {
  const { name, workers, clock, log, process } = options
  /** Wanted, and not being worked on. */
  const waiting = new Set<string>()
  const order = new PriorityQueue()
  const processing = new Map<string, Promise<void>>()
  /** Wanted again while being worked on. */
  const dirty = new Set<string>()
  const delayed = new Map<string, { due: number; timer: Timer }>()
  const failed = new Map<string, number>()
  const stopping = new AbortController()
  let scheduled = false

  function add(key: string): void {
    if (stopping.signal.aborted) return
    if (processing.has(key)) dirty.add(key)
    else wait(key)
    // Not in the caller's turn: a burst of changes to one object stays one piece of work.
    if (!scheduled) queueMicrotask(startWork)
    scheduled = true
  }

  function wait(key: string): void {
    if (waiting.has(key)) return
    waiting.add(key)
    order.put(key, options.rank?.(key) ?? 0)
  }

  function startWork(): void {
    scheduled = false
    while (processing.size < workers && !stopping.signal.aborted) {
      const key = order.take()
      if (key === undefined) return
      waiting.delete(key)
      processing.set(key, work(key))
    }
  }

  async function work(key: string): Promise<void> {
    try {
      const again = await process(key, stopping.signal)
      failed.delete(key)
      if (typeof again === 'number') addAfter(key, again)
    } catch (error) {
      const facts = { error: error instanceof Error ? error.message : String(error) }
      if (stopping.signal.aborted) {
        log.info(`${name}: ${key} was left undone when stopping`, facts)
      } else {
        const waitMilliseconds = addRateLimited(key)
        log.warn(`${name}: ${key} failed, trying again`, {
          ...facts,
          failures: failed.get(key),
          waitMilliseconds,
        })
      }
    } finally {
      processing.delete(key)
      if (dirty.delete(key)) wait(key)
      startWork()
    }
  }

  function addAfter(key: string, milliseconds: number): void {
    if (stopping.signal.aborted) return
    if (milliseconds <= 0) {
      add(key)
      return
    }
    const due = clock.monotonic() + milliseconds
    const pending = delayed.get(key)
    if (pending && pending.due <= due) return
    pending?.timer.cancel()
    const timer = clock.after(milliseconds, () => {
      delayed.delete(key)
      add(key)
    })
    delayed.set(key, { due, timer })
  }

  function addRateLimited(key: string): number {
    const failures = failed.get(key) ?? 0
    failed.set(key, failures + 1)
    const wait = retryDelay(failures)
    addAfter(key, wait)
    return wait
  }

  return {
    add,
    addAfter,
    addRateLimited: key => void addRateLimited(key),
    forget: key => void failed.delete(key),
    failures: key => failed.get(key) ?? 0,
    size: () => waiting.size,
    async stop() {
      stopping.abort()
      waiting.clear()
      order.clear()
      dirty.clear()
      for (const { timer } of delayed.values()) timer.cancel()
      delayed.clear()
      await Promise.all(processing.values())
    },
  }
}

/** Milliseconds until the next try after so many failures before this one. */
export function retryDelay(failures: number): number {
  return Math.min(FIRST_RETRY * 2 ** failures, LONGEST_RETRY)
}
