/** How long a certificate lives. Kubernetes' rules C-34 and C-35, so a kubelet sees the deadlines it expects. */
import { RollcallError } from '../errors.ts'

/** A leaf starts this long before now, for clocks that lag. Seconds. */
export const backdateSeconds = 5 * 60
/** Below this a certificate is not shortened by the backdating. Seconds. */
const shortSeconds = 8 * 60 * 60
const leastSeconds = 10 * 60

/**
 * Seconds of life that are granted: at most `cap`, at least ten minutes. The cap is asked first, so one below ten
 * minutes wins over what is above it (C-34).
 */
export function grantedSeconds(requested: number | undefined, cap: number): number {
  if (requested === undefined || requested > cap) return cap
  return Math.max(requested, leastSeconds)
}

export interface Validity {
  /** Milliseconds since the epoch, whole seconds. */
  notBefore: number
  notAfter: number
}

/**
 * Backdated five minutes; a certificate of eight hours or more ends five minutes earlier for it, so its whole life is
 * what was granted (C-35). Never outlives its CA. Throws RollcallError SIGNER_UNUSABLE when the CA has expired.
 */
export function leafValidity(now: number, grantedLife: number, caNotAfter: number): Validity {
  const start = Math.floor(now / 1000) * 1000
  const notBefore = start - backdateSeconds * 1000
  if (notBefore >= caNotAfter)
    throw new RollcallError('SIGNER_UNUSABLE', `the signer has expired: NotAfter=${goTime(caNotAfter)}`)
  if (now >= caNotAfter)
    throw new RollcallError(
      'SIGNER_UNUSABLE',
      `refusing to sign a certificate that expired in the past: NotAfter=${goTime(caNotAfter)}`,
    )
  const end = start + (grantedLife - (grantedLife < shortSeconds ? 0 : backdateSeconds)) * 1000
  return { notBefore, notAfter: Math.min(end, caNotAfter) }
}

/** As Go prints a time in UTC: `2027-01-02 03:04:05 +0000 UTC`. */
function goTime(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19).replace('T', ' ')} +0000 UTC`
}
