import { type Certificate, certificateSignatureIsValid } from '../../x509/certificate.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'

/**
 * Of a bundle what the pins vouch for: the pinned CAs, and what a pinned one has signed. kubeadm trusts the whole bundle
 * when one CA of it is pinned, so that whoever holds a token can slip in one of his own.
 */
export function vouchedFor(bundle: readonly Certificate[], pins: readonly string[]): Certificate[] {
  const pinned = bundle.filter(({ spki }) => pins.includes(sha256Hex(spki)))
  return bundle.filter(
    candidate =>
      pinned.includes(candidate) || pinned.some(issuer => certificateSignatureIsValid(candidate, issuer)),
  )
}
