import { RollcallError } from '../../errors.ts'

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
