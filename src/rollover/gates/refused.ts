import type { Observations } from '../observations.ts'
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

/** ACCEPTED: every server that judges clients of the role accepts this CA. */
export function acceptedGate({ servers }: Observations, authority: number): Gate {
  const judging = servers.filter(({ judgesBy }) => judgesBy !== undefined)
  const blockers = judging
    .filter(({ accepts }) => !accepts?.includes(authority))
    .map(({ id }): Blocker => ({ code: 'Unproven', about: id, message: `does not accept CA ${authority}` }))
  return gate('ACCEPTED', judging.length, blockers)
}
