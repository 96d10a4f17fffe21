import { RollcallError } from '../../errors.ts'
import { signatureAlgorithmOf } from '../../keys/signature-algorithm.ts'
import type { Signer } from '../../keys/signer.ts'
import type { Certificate } from '../../x509/certificate.ts'

/**
 * Of a CA that is known and trusted while its key is elsewhere, as after a backup without keys was restored: it signs when
 * the key is back. Until then `sign` rejects with KEY_MISMATCH, which a rotation to it names as its blocker.
 */
export function absentSigner({ spki, keyType }: Certificate, path: string): Signer {
  return {
    publicKey: spki,
    algorithm: signatureAlgorithmOf(keyType),
    sign: async () => {
      throw new RollcallError(
        'KEY_MISMATCH',
        `${path} is not there, so its CA cannot sign; put the key back and start again.`,
        { path },
      )
    },
  }
}
