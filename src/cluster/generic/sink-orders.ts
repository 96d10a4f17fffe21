/** Orders about places of trust: written, and who reads them once started anew. */
import { isStatus } from '../../kube/client.ts'
import type { Clock } from '../../ports.ts'
import type { SinkFacts } from '../../rollover/observations.ts'
import type { TrustSink } from '../rollover/trust-sinks.ts'
import type { GenericState } from './generic-state.ts'
import type { Fence, OrderHooks } from './order-hooks.ts'
import type { RolloverFile } from './rollover-file.ts'

export interface SinkOrders {
  file: RolloverFile
  clock: Clock
  sinks: readonly TrustSink[]
  state(): GenericState
  change(fence: Fence, change: (state: GenericState) => Partial<GenericState>): Promise<void>
  hooks: OrderHooks
  /** Of a signed bundle. */
  pem(generation: number): string | undefined
}

/** Has the place hold the bundle, where that is signed. What is ordered is stored before it is done. */
export async function publishInSink(
  id: string,
  generation: number,
  order: Fence,
  orders: SinkOrders,
): Promise<void> {
  const { sinks, pem: pemOf, state, change, clock } = orders
  const sink = sinks.find(one => one.id === id)
  const pem = pemOf(generation)
  if (!sink || pem === undefined) return
  const stands = await sink.read().then(
    copies => copies.every(copy => copy === pem),
    () => false, // what cannot be read is written anew
  )
  if (state().sinks[id] !== generation || !stands)
    await change(order, ({ sinks: known, writtenAt, restarted: { [id]: _, ...restarted }, bundle }) => ({
      sinks: { ...known, [id]: generation },
      writtenAt: { ...writtenAt, [id]: clock.now() },
      restarted,
      bundle: Math.max(bundle, generation),
    }))
  if (!stands) await sink.write(pem)
  await restartReader(id, generation, order, orders)
}

/** Who reads the file once: the hook starts it anew. What waits for a human, the place itself says. */
async function restartReader(
  id: string,
  generation: number,
  order: Fence,
  { file, state, change, hooks }: SinkOrders,
): Promise<void> {
  const entry = file.sinks.find(({ name }) => name === id)
  if (!entry || !('restart' in entry) || entry.restart === undefined || entry.restart === 'wait') return
  if ((state().restarted[id] ?? 1) >= generation) return
  const variables = { ROLLCALL_SINK: id, ROLLCALL_FILE: entry.path }
  await hooks.run(`hook restart of ${id}`, entry.restart, variables, order)
  await change(order, ({ restarted }) => ({ restarted: { ...restarted, [id]: generation } }))
}

/** From when on a pod that is started mounts the bundle: as soon as every place was read back with it, seeds apart. */
export async function notePublication(
  { sinks, now }: { sinks: readonly SinkFacts[]; now: number },
  fence: Fence,
  { state, change }: SinkOrders,
): Promise<void> {
  const { bundle, publishedAt } = state()
  const published = sinks.filter(({ seed }) => !seed).every(({ generation }) => generation >= bundle)
  if (published === (publishedAt !== undefined)) return
  const at = published ? now : undefined
  await change(fence, () => ({ publishedAt: at })).catch(error => {
    // Who wrote in between is read at the next turn.
    if (!isStatus(error, 'Conflict')) throw error
  })
}
