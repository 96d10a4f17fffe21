/** How a consumer stands: whether it counts, and whether it has answered. */
import type { ConsumerState } from '../kube/rollcall/trust-consumer.ts'
import type { BundleFacts, ConsumerFacts, Observations } from './observations.ts'
import type { Plan } from './plan.ts'
import type { Timings } from './policy.ts'

/** Live, Late or Offline by its last sign of life; Gone and Excluded consumers count for no gate. */
export function stateOf(
  consumer: ConsumerFacts,
  excluded: ReadonlySet<string>,
  now: number,
  timings: Timings,
): ConsumerState {
  if (consumer.gone) return 'Gone'
  if (excluded.has(consumer.id)) return 'Excluded'
  const silent = now - consumer.lastSeen
  if (silent < timings.live) return 'Live'
  return silent < timings.late ? 'Late' : 'Offline'
}

/** Clocks that disagree: then nothing is decided by time passing. */
export function isClockDisputed({ clockSkew }: Observations, { policy }: Plan): boolean {
  return Math.abs(clockSkew) > policy.timings.clockSkew
}

/** What has to be proven: that the consumer has loaded this CA, by a bundle not older than this generation. */
export interface Wanted {
  authority: number
  atLeast: number
}

/** Everything that answering is judged by, made once for all consumers. */
export interface Jury {
  plan: Plan
  now: number
  excluded: ReadonlySet<string>
  bundles: ReadonlyMap<number, ReadonlySet<number>>
  acknowledged: ReadonlyMap<string, number>
  /** Key algorithm that must be known to be understood; absent where it does not change. */
  algorithm?: string
}

export function juryOf(
  plan: Plan,
  { now, bundles, authorities }: Pick<Observations, 'now' | 'bundles' | 'authorities'>,
): Jury {
  const acknowledged = new Map(
    // A plan's author does not vouch for it.
    plan.wishes.acknowledgements
      .filter(({ by }) => by !== plan.author)
      .map(({ consumer, at }) => [consumer, at]),
  )
  const algorithm = plan.reason === 'Algorithm' ? authorities.get(plan.to)?.algorithm : undefined
  return {
    plan,
    now,
    excluded: new Set(plan.excluded.map(({ consumer }) => consumer)),
    bundles: anchorsByGeneration(bundles),
    acknowledged,
    ...(algorithm === undefined ? {} : { algorithm }),
  }
}

export function anchorsByGeneration(bundles: readonly BundleFacts[]): Map<number, ReadonlySet<number>> {
  return new Map(bundles.map(({ generation, anchors }) => [generation, new Set(anchors)]))
}

/**
 * Whether the consumer has answered: proof of enough level, by the instance that lives now (I6), young enough, of a bundle
 * that has the CA, and not contradicted by a failure after it.
 */
export function hasProven(consumer: ConsumerFacts, wanted: Wanted, jury: Jury): boolean {
  return hasOwnProof(consumer, wanted, jury) || isVouchedFor(consumer, jury)
}

function hasOwnProof(consumer: ConsumerFacts, wanted: Wanted, { plan, now, bundles }: Jury): boolean {
  const { proof, instance, kind } = consumer
  if (proof === undefined || proof.instance !== instance) return false
  const { clockSkew, proofAge } = plan.policy.timings
  const age = now - proof.at
  if (age > proofAge || age < -clockSkew) return false
  if (consumer.lastFailure !== undefined && consumer.lastFailure >= proof.at) return false
  if (proof.generation < wanted.atLeast || !bundles.get(proof.generation)?.has(wanted.authority)) return false
  // A handshake proves the CA of the chain that was served, no other.
  const { level: highest, authorities, unproven: other = 2 } = proof
  const level = highest >= 3 && !authorities?.includes(wanted.authority) ? other : highest
  return level >= plan.policy.minimumProof[kind]
}

/** Where nothing can be probed a human's word counts, until that instance refuses a chain. */
function isVouchedFor(
  { id, kind, unprobeable, lastFailure = Number.NEGATIVE_INFINITY }: ConsumerFacts,
  { acknowledged }: Jury,
): boolean {
  const probeable = !unprobeable && kind !== 'Pod' && kind !== 'External' && kind !== 'Monitoring'
  return !probeable && (acknowledged.get(id) ?? Number.NEGATIVE_INFINITY) > lastFailure
}

/** Whether it is known to understand the new key algorithm: it says so, or a handshake with it succeeded. */
export function understandsAlgorithm(consumer: ConsumerFacts, jury: Jury): boolean {
  const { algorithms, proof } = consumer
  const { algorithm, plan } = jury
  if (algorithm === undefined || algorithms?.includes(algorithm)) return true
  // Who vouches that it trusts the new CA vouches that it can verify by it.
  return proof?.authorities?.includes(plan.to) === true || isVouchedFor(consumer, jury)
}
