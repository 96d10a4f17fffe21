import type { HoldState, RequestCause } from './hold-state.ts'
import type { Validity } from './rotation-deadline.ts'

/** Milliseconds by which signers date a certificate back (C-35): clocks may differ by so much without harm. */
const backdate = 300_000
/**
 * Milliseconds that a new certificate must last: below that it would be renewed so often that a fleet is a storm, and
 * no other one would come that lasts longer.
 */
const leastLeft = 120_000
/** The part of a lifetime after which no certificate lacks its renewal (K-33). */
const leastShare = 0.3

/** Whether a certificate begins so late that waiting for it is worse than asking again: the signer's clock was fast. */
export function isPremature(validity: Validity, wall: number): boolean {
  return validity.notBefore - wall > backdate
}

/** Whether a certificate that arrives now is due for its renewal at once: the signer's clock is slow, or ours is fast. */
function isSpent({ notBefore, notAfter }: Validity, wall: number): boolean {
  return notAfter - wall < leastShare * (notAfter - notBefore)
}

/**
 * Why a certificate that was issued just now is not put in force: one of the two clocks must be wrong, and what is held
 * is better, or nothing is. undefined: it is put in force. A lifetime that an operator has shortened is no reason.
 */
export function uselessOnArrival(
  fresh: Validity,
  { held }: Pick<HoldState, 'held'>,
  cause: RequestCause,
  wall: number,
): string | undefined {
  const { notBefore, notAfter } = fresh
  if (notAfter < wall) return `ended at ${timeText(notAfter)}`
  if (notAfter - wall < leastLeft) return `ends at ${timeText(notAfter)}`
  if (cause === 'premature' && isPremature(fresh, wall)) return `begins only at ${timeText(notBefore)}`
  if (cause === 'renewal' && held && held.notAfter > notAfter && isSpent(fresh, wall))
    return `ends at ${timeText(notAfter)}, before the one that it is to replace`
  return undefined
}

/** A sentence about a certificate in force whose times do not fit the clock here; undefined: they do. */
export function clockComplaint({ notBefore, notAfter }: Validity, wall: number): string | undefined {
  if (wall < notBefore) return `The certificate begins only at ${timeText(notBefore)}${setTheClock(wall)}`
  return isSpent({ notBefore, notAfter }, wall)
    ? `The certificate was issued just now, but ends at ${timeText(notAfter)}${setTheClock(wall)}`
    : undefined
}

/** The end of a sentence about a moment that does not fit. */
export function setTheClock(wall: number): string {
  return `, and the clock here shows ${timeText(wall)}; set the clock of the node or of the signer.`
}

const timeText = (milliseconds: number) => new Date(milliseconds).toISOString()
