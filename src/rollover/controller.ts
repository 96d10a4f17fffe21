/** Turns of every rotation that is under way, again and again: the loop around `takeTurn`. Nothing is remembered in it. */
import type { CARotationObject } from '../kube/rollcall/ca-rotation.ts'
import type { TrustRole } from '../kube/rollcall/trust-bundle.ts'
import { type Clock, type Log, sleep } from '../ports.ts'
import { desiredIn } from './desired.ts'
import { finalPhases, type Phase, type Plan } from './plan.ts'
import { type RotationObjects, rotationStore } from './rotation-store.ts'
import type { Step } from './step.ts'
import { type RolloverAdapter, type Turn, takeTurn } from './turn.ts'

export interface ControllerAdapter extends RolloverAdapter {
  /** Signs what the rotation needs, where a trust root is at hand. */
  ceremony(plan: Plan): Promise<void>
  /** After the orders of a turn; `probed`: the CA that consumers are to prove. */
  finish(plan: Plan, probed: number | undefined): Promise<void>
}

export interface RolloverControllerOptions {
  objects: RotationObjects & { list(): Promise<readonly CARotationObject[]> }
  adapterFor(role: TrustRole): ControllerAdapter
  /** Sequence at which orders of the role stand. */
  after(role: TrustRole): number
  /** What is done when nothing rotates. */
  rest(): Promise<void>
  /** A rotation has gone on: for Events. */
  onStep(rotation: CARotationObject, step: Step): void
  /** Milliseconds between two turns while something rotates, and while nothing does; absent: those of an API in the same process. */
  pace?: { busy: number; idle: number }
  clock: Clock
  log: Log
}

const quick = { busy: 300, idle: 1000 }

export function startRolloverController(options: RolloverControllerOptions): { stop(): Promise<void> } {
  const { clock, log, pace = quick } = options
  const stopping = new AbortController()
  const { signal } = stopping
  const running = run()

  async function run(): Promise<void> {
    while (!signal.aborted) {
      let active = 0
      try {
        const all = await options.objects.list()
        const rotations = all.filter(isUnderWay)
        active = rotations.length
        for (const rotation of rotations)
          if (!signal.aborted) await turnOf(rotation, emergencyAfter(rotation, all), options)
        await options.rest()
      } catch (error) {
        log.error('a turn of the rollover failed', { error: String(error) })
      }
      await sleep(clock, active > 0 ? pace.busy : pace.idle, signal)
    }
  }

  return {
    async stop() {
      stopping.abort()
      await running
    },
  }
}

function isUnderWay({ status }: CARotationObject): boolean {
  const phase = (status?.state as { phase?: Phase } | undefined)?.phase
  return phase === undefined || !finalPhases.has(phase)
}

/** An emergency takes over for good from what else is under way for its role; what is begun after it is none of its business. */
function emergencyAfter(
  { metadata, spec }: CARotationObject,
  all: readonly CARotationObject[],
): string | undefined {
  const begun = metadata.creationTimestamp ?? ''
  return all.find(other => {
    const { reason, role } = other.spec
    const since = other.metadata.creationTimestamp ?? ''
    return (
      reason === 'Compromise' && role === spec.role && since >= begun && other.metadata.name !== metadata.name
    )
  })?.metadata.name
}

async function turnOf(
  rotation: CARotationObject,
  supersededBy: string | undefined,
  options: RolloverControllerOptions,
): Promise<void> {
  const { role } = rotation.spec
  const { clock, log } = options
  const store = rotationStore(rotation.metadata.name, {
    objects: options.objects,
    after: () => options.after(role),
    now: () => clock.now(),
  })
  const adapter = options.adapterFor(role)
  const { plan } = await store.read()
  if (plan.phase === 'Prepared' || plan.phase === 'Freezing' || plan.phase === 'Unbridging')
    await adapter.ceremony(plan)
  const turn = await takeTurn(store, {
    gather: async asked => ({
      ...(await adapter.gather(asked)),
      ...(supersededBy !== undefined && { supersededBy }),
    }),
    carryOut: order => adapter.carryOut(order),
  })
  for (const { order, error } of turn.failures)
    log.warn('an order of the rollover failed', { order: order.effect.kind, role, error: String(error) })
  if (!turn.stored) return
  await adapter.finish(turn.step.plan, desiredIn(turn.step.plan).probe)
  await show(turn, plan, store)
  if (turn.step.plan.sequence !== plan.sequence) options.onStep(rotation, turn.step)
}

/** A step that changes nothing still says how far its gate is. */
async function show({ step }: Turn, before: Plan, store: ReturnType<typeof rotationStore>): Promise<void> {
  if (step.plan.sequence !== before.sequence) return
  const { version } = await store.read()
  await store.write(step, version)
}
