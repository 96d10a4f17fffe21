/** One turn of an orchestrator: read, gather, decide, store, order. The order of these is what makes a crash harmless. */
import type { Order } from './effects/effect.ts'
import type { Observations } from './observations.ts'
import type { Plan } from './plan.ts'
import { ordersOf, type Step, step } from './step.ts'

/** Where the plan is kept: the CARotation object. */
export interface PlanStore {
  /** The plan with the wishes of its spec, and the version it was read at. */
  read(): Promise<{ plan: Plan; version: string }>
  /** Stores the step's plan and status if the version is still that; false: another was there first. */
  write(step: Step, version: string): Promise<boolean>
}

/** The world: a cluster of ours, of kubeadm, or what hooks of an operator reach. */
export interface RolloverAdapter {
  /** Facts as they are after the call; none from a cache that may be older. */
  gather(plan: Plan): Promise<Omit<Observations, 'gatheredAfter'>>
  /** Carries one order out, or hands it to who does. It may come again, and must refuse what its fence is ahead of. */
  carryOut(order: Order): Promise<void>
}

export interface Turn {
  step: Step
  /** False: the plan had changed meanwhile, and nothing was done. */
  stored: boolean
  /** Orders that failed, each with why; the next turn says them again. */
  failures: readonly { order: Order; error: unknown }[]
}

/** Rejects when plan or facts cannot be read or the plan cannot be written: nothing was ordered then. */
export async function takeTurn(store: PlanStore, adapter: RolloverAdapter): Promise<Turn> {
  const { plan, version } = await store.read()
  const facts = await adapter.gather(plan)
  const decided = step(plan, { ...facts, gatheredAfter: plan.sequence })
  const changed = decided.plan.sequence !== plan.sequence
  // Stored first: if another orchestrator has stored something since, its plan counts, and these orders are void.
  if (changed && !(await store.write(decided, version))) return { step: decided, stored: false, failures: [] }
  const failures: { order: Order; error: unknown }[] = []
  for (const order of ordersOf(decided)) {
    try {
      await adapter.carryOut(order)
    } catch (error) {
      // One place that is down holds up no other; the gate of its phase names it.
      failures.push({ order, error })
    }
  }
  return { step: decided, stored: true, failures }
}
