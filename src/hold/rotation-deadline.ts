/** When a certificate is valid, in milliseconds since the epoch, both ends included. */
export interface Validity {
  notBefore: number
  notAfter: number
}

/**
 * When to renew: between 70 and 90 % of the lifetime, counted from notBefore (K-33); `chance` in [0, 1) picks the point,
 * so that a fleet that joined together does not renew together. Milliseconds since the epoch.
 *
 * `obtainedAt` is when the certificate was received, where that is known: signers date notBefore back by five minutes,
 * so for very short lifetimes 70 % may be over on arrival and Kubernetes asks again every second. Ours never renews
 * before half of what was left on arrival has passed.
 */
export function rotationDeadline(validity: Validity, chance: number, obtainedAt?: number): number {
  const lifetime = validity.notAfter - validity.notBefore
  const deadline = validity.notBefore + Math.round(lifetime * (0.7 + 0.2 * chance))
  if (obtainedAt === undefined || obtainedAt > validity.notAfter) return deadline
  return Math.max(deadline, Math.floor(obtainedAt + (validity.notAfter - obtainedAt) / 2))
}
