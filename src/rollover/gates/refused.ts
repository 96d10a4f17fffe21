import type { ConsumerFacts, Observations } from '../observations.ts'
import type { Plan } from '../plan.ts'
import { stateOf } from '../standing.ts'
import { type Blocker, type Gate, gate } from './gate.ts'

/** REFUSED: every server that judges clients of the role has refused a certificate of this CA (L4), after it dropped it. */
export function refusedGate({ servers }: Observations, authority: number): Gate {
  const judging = servers.filter(({ judgesBy }) => judgesBy !== undefined)
  const blockers = judging
    .filter(({ accepts, refused }) => accepts?.includes(authority) !== false || !refused?.includes(authority))
    .map(({ id }): Blocker => {
      return { code: 'NotRefused', about: id, message: `has not proven to refuse CA ${authority}` }
    })
  return gate('REFUSED', judging.length, blockers)
}

/** As many consumers prove by a handshake that they refuse the old CA; that all have dropped it, NARROWED says. */
export const refusalSample = 3

/** SAMPLE: a few consumers have refused the bare chain of the CA that they dropped. */
export function sampleGate(plan: Plan, seen: Observations): Gate {
  const able = sampled(plan, seen)
  const silent = able.filter(consumer => !hasRefused(consumer, plan.from))
  const wanted = Math.min(refusalSample, able.length)
  const missing = silent.slice(0, Math.max(0, wanted - (able.length - silent.length)))
  const message = `has not shown that it refuses CA ${plan.from}`
  return gate(
    'SAMPLE',
    wanted,
    missing.map(({ id }): Blocker => ({ code: 'NotRefused', about: id, message })),
  )
}

/** Who can be asked: agents that are there, take orders, and make handshakes of their own. */
export function sampled(plan: Plan, { consumers, now }: Observations): ConsumerFacts[] {
  const excluded = new Set(plan.excluded.map(({ consumer }) => consumer))
  return consumers.filter(consumer => {
    const { kind, orderable, roles, unprobeable } = consumer
    if (kind !== 'Agent' || !orderable || unprobeable || !roles.includes(plan.role)) return false
    return stateOf(consumer, excluded, now, plan.policy.timings) === 'Live'
  })
}

export function hasRefused({ proof, instance }: ConsumerFacts, authority: number): boolean {
  return proof?.instance === instance && proof.refuses?.includes(authority) === true
}

/** ACCEPTED: every server that judges clients of the role accepts this CA. */
export function acceptedGate({ servers }: Observations, authority: number): Gate {
  const judging = servers.filter(({ judgesBy }) => judgesBy !== undefined)
  const blockers = judging
    .filter(({ accepts }) => !accepts?.includes(authority))
    .map(({ id }): Blocker => ({ code: 'Unproven', about: id, message: `does not accept CA ${authority}` }))
  return gate('ACCEPTED', judging.length, blockers)
}
