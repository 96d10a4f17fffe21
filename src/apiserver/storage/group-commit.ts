import type { Plan, Revisions } from './revisions.ts'
import type { Write, WriteResult } from './store.ts'

interface Waiting {
  write: Write
  resolve(result: WriteResult): void
  reject(error: Error): void
}

export interface GroupCommitOptions {
  revisions: Revisions
  /** Makes a plan with at least one change durable; `committed` or `refused` is to be called then. */
  commit(plan: Plan): void
  /** Called for each durable plan, before anybody sees it. */
  applied(plan: Plan): void
}

/**
 * One transaction for all writes that arrive while the disk works on the one before: the slower the disk, the larger
 * the groups. A write is judged when its group starts, so by what is durable and by the writes before it in the group.
 */
export class GroupCommit {
  readonly #options: GroupCommitOptions
  #queue: Waiting[] = []
  #inFlight: { plan: Plan; waiting: readonly Waiting[] } | undefined
  #ended: Error | undefined
  #onIdle: (() => void) | undefined

  constructor(options: GroupCommitOptions) {
    this.#options = options
  }

  /** Rejects with the error of a refused group, or with that of `end`. */
  write(write: Write): Promise<WriteResult> {
    return new Promise((resolve, reject) => {
      if (this.#ended) {
        reject(this.#ended)
        return
      }
      this.#queue.push({ write, resolve, reject })
      if (this.#queue.length === 1) queueMicrotask(() => this.#start())
    })
  }

  /** The plan under way is on the disk. */
  committed(): void {
    const group = this.#inFlight
    if (!group) return
    this.#inFlight = undefined
    this.#options.applied(group.plan)
    this.#options.revisions.apply(group.plan)
    group.waiting.forEach((one, index) => {
      const result = group.plan.results[index]
      if (result) one.resolve(result)
    })
    this.#start()
  }

  /** The disk has refused the plan under way: nothing of it happened. */
  refused(error: Error): void {
    const group = this.#inFlight
    if (!group) return
    this.#inFlight = undefined
    for (const one of group.waiting) one.reject(error)
    this.#start()
  }

  /** Takes no more writes; resolves when those it has are done. */
  async end(error: Error): Promise<void> {
    this.#ended = error
    if (!this.#inFlight && this.#queue.length === 0) return
    await new Promise<void>(resolve => {
      this.#onIdle = resolve
    })
  }

  /** The disk is out of reach for good: everything that waits is refused. */
  abandon(error: Error): void {
    this.#ended = error
    for (const one of this.#queue.splice(0)) one.reject(error)
    this.refused(error)
  }

  #start(): void {
    if (this.#inFlight) return
    if (this.#queue.length === 0) {
      this.#onIdle?.()
      return
    }
    const waiting = this.#queue
    this.#queue = []
    const plan = this.#options.revisions.plan(waiting.map(one => one.write))
    this.#inFlight = { plan, waiting }
    if (plan.changes.length > 0) this.#options.commit(plan)
    else this.committed()
  }
}
