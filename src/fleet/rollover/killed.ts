/** An orchestrator that dies whenever it has decided something new, and amid the orders that follow. */
import { takeLease } from '../../rollover/simulated/orchestrator.ts'
import type { RolloverFleet } from './rollover-fleet.ts'

/**
 * Runs the rotation to its end. Each decision that is stored kills its author before the first order; each successor,
 * with a lease of its own, dies after one order more than the one before, until somebody survives a turn. Resolves with
 * how many died.
 */
export async function killedAtEveryStep(fleet: RolloverFleet): Promise<number> {
  const { world } = fleet
  let deaths = 0
  for (let turn = 0; turn < 4000 && !fleet.isOver; turn += 1) {
    const before = world.store.plan.sequence
    await fleet.turn({ crashAfterStore: true })
    if (world.store.plan.sequence !== before) {
      deaths += 1
      await succeed(fleet)
      deaths += await amidItsOrders(fleet)
    }
    fleet.wait()
  }
  return deaths
}

const mostOrders = 3

async function amidItsOrders(fleet: RolloverFleet): Promise<number> {
  for (let survives = 0; survives < mostOrders; survives += 1) {
    let given = 0
    const loses = () => {
      given += 1
      return given > survives
    }
    await fleet.turn({ loses })
    await succeed(fleet)
  }
  return mostOrders
}

/** Another leads, and counts itself in, which orders nothing; were it killed at that, nobody would ever decide. */
async function succeed(fleet: RolloverFleet): Promise<void> {
  takeLease(fleet.world, fleet.leader)
  await fleet.turn()
}
