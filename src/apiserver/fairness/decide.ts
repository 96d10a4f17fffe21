/** The decisions of fairness, without state. */
import type { FlowLimits } from './limits.ts'

/** What is under way: of one flow, and of all flows that share seats with it. */
export interface Load {
  running: number
  pool: { running: number; limit: number }
}

/** Whether the flow may have one more under way. */
function mayRun({ running, pool }: Load, limits: FlowLimits): boolean {
  return running < limits.running && pool.running < pool.limit
}

/** What happens to the next request of a flow of which `waiting` wait already: nobody overtakes those. */
export function decide(load: Load, waiting: number, limits: FlowLimits): 'run' | 'wait' | 'refuse' {
  if (waiting === 0 && mayRun(load, limits)) return 'run'
  return waiting < limits.waiting ? 'wait' : 'refuse'
}

/**
 * A token bucket as one number: the time (milliseconds) at which it is full again. Gives that time after one more request
 * at `now`, or undefined when the bucket is empty.
 */
export function afterRequest(
  fullAt: number,
  now: number,
  { perSecond, burst }: NonNullable<FlowLimits['rate']>,
): number | undefined {
  const each = 1000 / perSecond
  const next = Math.max(fullAt, now) + each
  return next - now > burst * each ? undefined : next
}
