import { isPresented } from '../gates/served.ts'
import type { ChainMode, Observations } from '../observations.ts'
import { anchorsByGeneration } from '../standing.ts'
import type { Effect } from './effect.ts'

const progress: Readonly<Record<ChainMode, number>> = { old: 0, bridged: 1, bare: 2 }

/** Whether an effect only gives back trust or a chain that more can verify (I1 to I3). */
export function isRestoring(effect: Effect, seen: Observations): boolean {
  switch (effect.kind) {
    case 'present': {
      const presents = seen.servers.find(({ id }) => id === effect.server)?.presents
      // The bridged chain of another CA is a step on, whatever form the chain has that is shown now.
      const back = effect.mode === 'old' || effect.authority === presents?.authority
      return (
        presents !== undefined &&
        back &&
        !isPresented(presents, effect) &&
        progress[effect.mode] < progress[presents.mode]
      )
    }
    case 'sign-with':
      return effect.authority !== undefined && progress[effect.mode] < progress[seen.signer.mode ?? 'old']
    case 'client-trust': {
      const accepts = seen.servers.find(({ id }) => id === effect.server)?.accepts ?? []
      return keepsAndAdds(effect.generation, accepts, seen)
    }
    case 'publish-bundle': {
      const anchors = seen.sinks.find(({ id }) => id === effect.sink)?.anchors ?? []
      const { holders } = seen.leaves
      const needed = [...seen.servers.flatMap(({ presents }) => presents?.authority ?? []), ...holders.keys()]
      const missing = needed.some(authority => !anchors.includes(authority))
      return missing && keepsAndAdds(effect.generation, anchors, seen)
    }
    default:
      return false
  }
}

/** The bundle has all that is there, and more. */
function keepsAndAdds(generation: number, there: readonly number[], { bundles }: Observations): boolean {
  const anchors = anchorsByGeneration(bundles).get(generation) ?? new Set<number>()
  return there.every(authority => anchors.has(authority)) && anchors.size > there.length
}
