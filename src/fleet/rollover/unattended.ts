/** Rollovers one after another without anybody, and the meetings of trust roots in between. */
import { gatesOf } from '../../rollover/phases.ts'
import { observe } from '../../rollover/simulated/observe.ts'
import type { RolloverFleet } from './rollover-fleet.ts'

export interface Unattended {
  /** E.g. `CA 4 -> CA 5`. */
  name: string
  phase: string
  /** By the simulated clock, in milliseconds. */
  took: number
  /** Whether the roots had to meet first. */
  metFirst: boolean
}

/**
 * This many rollovers. Each is left to itself; one that waits with CeremonyNeeded and nothing else has the roots meet,
 * who sign for `standbys` more.
 */
export async function* unattended(
  fleet: RolloverFleet,
  rollovers: number,
  standbys: number,
): AsyncGenerator<Unattended, void> {
  const { world } = fleet
  for (let done = 0; done < rollovers; done += 1) {
    if (done > 0) fleet.next()
    const began = world.now
    const { from, to } = world.store.plan
    let metFirst = false
    await fleet.run({
      turns: 2000,
      async before() {
        if (metFirst || !waitsForRoots(fleet)) return
        metFirst = true
        await fleet.ceremony(standbys)
      },
    })
    const { phase } = world.store.plan
    yield { name: `CA ${from} -> CA ${to}`, phase, took: world.now - began, metFirst }
  }
}

/** Whether a ceremony is all that the rotation waits for. */
export function waitsForRoots({ world, leader }: RolloverFleet): boolean {
  const { plan } = world.store
  if (plan.phase !== 'Prepared') return false
  const closed = gatesOf(plan, observe(world, leader.token)).filter(({ open }) => !open)
  const blockers = closed.flatMap(gate => gate.blockers)
  return blockers.length > 0 && blockers.every(({ code }) => code === 'CeremonyNeeded')
}
