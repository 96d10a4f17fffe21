import type { CertificateStore } from '../hold/certificate-store.ts'
import type { AttemptKey } from '../join/request-certificate.ts'
import type { KeyAlgorithm } from '../keys/private-key.ts'
import type { Secret } from '../keys/secret.ts'
import type { TokenKeys } from './token-keys.ts'

/** A new key in the token; those of the pairs that are stored and of the one held stay. Rejects as TokenKeys.newKey. */
export async function newTokenKey(
  tokenKeys: TokenKeys,
  {
    keyAlgorithm,
    store,
    held,
  }: { keyAlgorithm: KeyAlgorithm; store: Pick<CertificateStore, 'keys'>; held: Secret | undefined },
): Promise<AttemptKey> {
  const kept = await store.keys()
  return tokenKeys.newKey(keyAlgorithm, kept && [...kept, ...(held ? [held] : [])])
}
