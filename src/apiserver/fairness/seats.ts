import type { Clock } from '../../ports.ts'
import type { Identity } from '../access/access.ts'
import type { RequestInfo } from '../request-info.ts'
import { isTunnel } from '../tunnel/connected-subresources.ts'
import { FairQueue, type Refusal, type Release, type Seat } from './fair-queue.ts'
import { type Flow, flowOf } from './flow.ts'
import type { FairnessLimits } from './limits.ts'

/** Kubernetes' request_kind. */
export type RequestKind = 'mutating' | 'readOnly'

const readOnlyVerbs = ['get', 'list', 'watch', 'head', 'options']
const healthPaths = /^\/(?:healthz|livez|readyz)(?:\/|$)/

const requestKind = ({ verb }: RequestInfo): RequestKind =>
  readOnlyVerbs.includes(verb) ? 'readOnly' : 'mutating'

/** What is under way, for the metrics, and who may add to it. */
export class Seats {
  readonly running: Record<RequestKind, number> = { mutating: 0, readOnly: 0 }
  readonly waiting: Record<RequestKind, number> = { mutating: 0, readOnly: 0 }
  watches = 0
  readonly #queue: FairQueue
  readonly #clock: Clock
  #onIdle: (() => void) | undefined

  constructor(clock: Clock, limits: FairnessLimits) {
    this.#queue = new FairQueue(clock, limits)
    this.#clock = clock
  }

  /** Resolves when no request (watches aside) is under way or waits, or after `milliseconds`. */
  async idle(milliseconds: number): Promise<void> {
    if (this.#isIdle()) return
    await new Promise<void>(resolve => {
      const timer = this.#clock.after(milliseconds, resolve)
      this.#onIdle = () => {
        timer.cancel()
        resolve()
      }
    })
  }

  #isIdle(): boolean {
    const { running, waiting } = this
    return running.mutating + running.readOnly + waiting.mutating + waiting.readOnly === 0
  }

  /** A seat for the request, or why it is refused with 429. Health is told to everybody, as fast as they ask. */
  take(info: RequestInfo, identity: Identity, signal: AbortSignal | undefined): Seat | Promise<Seat> {
    if (healthPaths.test(info.path)) return () => {}
    const flow = flowOf(identity)
    const lasts = info.verb === 'watch' || isTunnel(info.resource)
    return lasts ? this.#watch(flow) : this.#request(flow, requestKind(info), signal)
  }

  #watch(flow: Flow): Seat {
    const seat = this.#queue.enterWatch(flow)
    if (isRefusal(seat)) return seat
    this.watches++
    return andThen(seat, () => this.watches--)
  }

  #request(flow: Flow, kind: RequestKind, signal: AbortSignal | undefined): Seat | Promise<Seat> {
    const seat = this.#queue.enter(flow, signal)
    if (!(seat instanceof Promise)) return this.#seated(seat, kind)
    this.waiting[kind]++
    return seat.then(settled => {
      this.waiting[kind]--
      return this.#seated(settled, kind)
    })
  }

  #seated(seat: Seat, kind: RequestKind): Seat {
    if (isRefusal(seat)) return seat
    this.running[kind]++
    return andThen(seat, () => {
      this.running[kind]--
      if (this.#isIdle()) this.#onIdle?.()
    })
  }
}

export const isRefusal = (seat: Seat): seat is Refusal => typeof seat === 'string'

function andThen(release: Release, run: () => void): Release {
  let done = false
  return () => {
    if (done) return
    done = true
    run()
    release()
  }
}
