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
 * and their clock may be slow, so that this moment may be over, or almost, on arrival, and Kubernetes asks again every
 * second. Then ours takes the same share of what is left.
 */
export function rotationDeadline(validity: Validity, chance: number, obtainedAt?: number): number {
  const { notBefore, notAfter } = validity
  const share = 0.7 + 0.2 * chance
  const deadline = notBefore + Math.round((notAfter - notBefore) * share)
  if (obtainedAt === undefined || obtainedAt > notAfter) return deadline
  const left = notAfter - obtainedAt
  return deadline >= obtainedAt + left / 2 ? deadline : Math.floor(obtainedAt + left * share)
}
