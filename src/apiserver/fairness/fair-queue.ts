import type { Clock } from '../../ports.ts'
import { afterRequest, decide } from './decide.ts'
import type { Flow } from './flow.ts'
import type { FairnessLimits, FlowLimits } from './limits.ts'

/** Gives the seat back; more than once is harmless. */
export type Release = () => void

/** Why there is no seat, in the words of Kubernetes' metric apiserver_flowcontrol_rejected_requests_total. */
export type Refusal = 'queue-full' | 'concurrency-limit' | 'rate-limit' | 'time-out' | 'cancelled'

export type Seat = Release | Refusal

/** Seats that flows share, and the flows that have somebody waiting and a seat of their own free, by turns. */
interface Pool {
  running: number
  limit: number
  turns: Set<FlowState>
}

interface FlowState {
  key: string
  limits: FlowLimits
  pool: Pool
  running: number
  watches: number
  /** Each begins when it is called. */
  waiting: Set<(release: Release) => void>
  /** When its token bucket is full again, in milliseconds of the monotonic clock. */
  fullAt: number
}

/** Idle flows are forgotten when there are more than this; all that is lost is what they spent in the last seconds. */
const MOST_FLOWS = 20_000

/** Seats for requests: each flow has its own, all but the control plane share a total, and turns go round. */
export class FairQueue {
  readonly #clock: Clock
  readonly #limits: FairnessLimits
  readonly #flows = new Map<string, FlowState>()
  readonly #shared: Pool
  readonly #own: Pool = { running: 0, limit: Number.POSITIVE_INFINITY, turns: new Set() }
  #sweepAt = MOST_FLOWS

  constructor(clock: Clock, limits: FairnessLimits) {
    this.#clock = clock
    this.#limits = limits
    this.#shared = { running: 0, limit: limits.running, turns: new Set() }
  }

  /**
   * A seat: at once, after a wait, or not at all. A wait ends without a seat after `waitSeconds`, and when the signal
   * aborts.
   */
  enter(flow: Flow, signal?: AbortSignal): Seat | Promise<Seat> {
    const state = this.#stateOf(flow)
    if (!this.#spend(state)) return 'rate-limit'
    const decision = decide(state, state.waiting.size, state.limits)
    if (decision === 'run') return this.#start(state)
    return decision === 'wait' ? this.#wait(state, signal) : 'queue-full'
  }

  /** A seat for a watch. */
  enterWatch(flow: Flow): Seat {
    const state = this.#stateOf(flow)
    if (state.watches >= state.limits.watches) return 'concurrency-limit'
    if (!this.#spend(state)) return 'rate-limit'
    state.watches++
    return once(() => {
      state.watches--
      this.#forgetIdle(state, this.#clock.monotonic())
    })
  }

  /** Clients that are remembered. */
  get size(): number {
    return this.#flows.size
  }

  #stateOf({ level, name }: Flow): FlowState {
    const key = `${level}/${name}`
    const known = this.#flows.get(key)
    if (known) return known
    if (this.#flows.size >= this.#sweepAt) this.#sweep()
    const limits = this.#limits.levels[level]
    const pool = level === 'control-plane' ? this.#own : this.#shared
    const state = { key, limits, pool, running: 0, watches: 0, waiting: new Set<never>(), fullAt: 0 }
    this.#flows.set(key, state)
    return state
  }

  #sweep(): void {
    for (const state of this.#flows.values()) this.#forgetIdle(state, Number.POSITIVE_INFINITY)
    this.#sweepAt = Math.max(MOST_FLOWS, 2 * this.#flows.size)
  }

  #forgetIdle(state: FlowState, now: number): void {
    const idle = state.running === 0 && state.watches === 0 && state.waiting.size === 0
    if (idle && state.fullAt <= now) this.#flows.delete(state.key)
  }

  /** False: the flow has used up its rate. */
  #spend(state: FlowState): boolean {
    const { rate } = state.limits
    if (!rate) return true
    const fullAt = afterRequest(state.fullAt, this.#clock.monotonic(), rate)
    if (fullAt === undefined) return false
    state.fullAt = fullAt
    return true
  }

  #start(state: FlowState): Release {
    const { pool } = state
    state.running++
    pool.running++
    return once(() => {
      state.running--
      pool.running--
      queueTurn(state)
      this.#giveTurns(pool)
      this.#forgetIdle(state, this.#clock.monotonic())
    })
  }

  #wait(state: FlowState, signal: AbortSignal | undefined): Promise<Seat> {
    return new Promise(resolve => {
      const settle = (seat: Seat) => {
        state.waiting.delete(begin)
        queueTurn(state)
        timer.cancel()
        signal?.removeEventListener('abort', leave)
        resolve(seat)
      }
      const begin = (release: Release) => settle(release)
      const timer = this.#clock.after(this.#limits.waitSeconds * 1000, () => settle('time-out'))
      const leave = () => settle('cancelled')
      signal?.addEventListener('abort', leave, { once: true })
      state.waiting.add(begin)
      queueTurn(state)
    })
  }

  #giveTurns(pool: Pool): void {
    // A flow that has had its turn goes to the end of the row, so this ends when nobody waits or no seat is free.
    for (const state of pool.turns) {
      if (pool.running >= pool.limit) return
      pool.turns.delete(state)
      const [begin] = state.waiting
      if (begin) begin(this.#start(state))
    }
  }
}

/** Keeps the flow in the row exactly while it has somebody waiting and a seat of its own. */
function queueTurn(state: FlowState): void {
  const { waiting, running, limits, pool } = state
  if (waiting.size > 0 && running < limits.running) pool.turns.add(state)
  else pool.turns.delete(state)
}

function once(run: () => void): Release {
  let done = false
  return () => {
    if (done) return
    done = true
    run()
  }
}
