/** The challenges of an identity: asked, answered once, forgotten after a minute. They live in its status, so that any replica takes the answer. */
import type { AskedChallenge, NodeIdentityObject } from '../../kube/rollcall/node-identity.ts'
import { formatTime } from '../../kube/time-format.ts'

/** Milliseconds. */
export const challengeLifetime = 60_000
/** Of one identity at once: more come from somebody who disturbs. */
const mostChallenges = 8

/** The status with one more challenge; those that have ended are left out. `now` in milliseconds since the epoch. */
export function withChallenge(
  status: NodeIdentityObject['status'],
  asked: Omit<AskedChallenge, 'expires'>,
  now: number,
): NonNullable<NodeIdentityObject['status']> {
  const open = (status?.challenges ?? []).filter(challenge => isOpen(challenge, now))
  const expires = formatTime(now + challengeLifetime)
  return { ...status, challenges: [...open.slice(1 - mostChallenges), { ...asked, expires }] }
}

/** The challenge, and the status without it; undefined: never asked, answered before, or too late. */
export function answered(
  status: NodeIdentityObject['status'],
  id: string,
  now: number,
): { challenge: AskedChallenge; status: NonNullable<NodeIdentityObject['status']> } | undefined {
  const challenge = status?.challenges?.find(asked => asked.id === id)
  if (!challenge || !isOpen(challenge, now)) return undefined
  const challenges = (status?.challenges ?? []).filter(asked => asked.id !== id && isOpen(asked, now))
  return { challenge, status: { ...status, challenges } }
}

function isOpen({ expires }: AskedChallenge, now: number): boolean {
  return now < Date.parse(expires)
}
