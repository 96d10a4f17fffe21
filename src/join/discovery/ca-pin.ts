import { RollcallError } from '../../errors.ts'
import { type Certificate, certificateSignatureIsValid } from '../../x509/certificate.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'

/**
 * A pin as kubeadm writes it: `sha256:` and the SHA-256 of the CA's SubjectPublicKeyInfo in 64 hexadecimal digits, of
 * either case. Gives the digits in lower case. Throws RollcallError USAGE.
 */
export function parsePin(text: string): string {
  const digits = /^sha256:([0-9a-f]{64})$/i.exec(text)?.[1]
  if (digits === undefined)
    throw new RollcallError(
      'USAGE',
      `the CA pin ${JSON.stringify(text.slice(0, 100))} is not sha256: and 64 hexadecimal digits; \`kubeadm token create --print-join-command\` shows it.`,
    )
  return digits.toLowerCase()
}

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
