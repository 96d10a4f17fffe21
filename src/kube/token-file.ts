import { RollcallError, systemCode } from '../errors.ts'
import { Secret } from '../keys/secret.ts'
import type { Clock, Disk } from '../ports.ts'

/** Milliseconds for which a token that was read is used without looking at the file again; client-go's value. */
const FRESH = 60_000

/**
 * A token that is replaced in its file while we run, as the kubelet replaces those of service accounts. Where the file
 * cannot be read, the last token that could be (or `initial`) is used on; throws CREDENTIAL_UNAVAILABLE without any.
 */
export function tokenFromFile(
  path: string,
  { disk, clock }: { disk: Pick<Disk, 'read'>; clock: Clock },
  initial?: Secret,
): () => Promise<Secret> {
  let token = initial
  let readAt: number | undefined
  return async () => {
    if (token && readAt !== undefined && clock.monotonic() - readAt < FRESH) return token
    try {
      const text = new TextDecoder().decode(await disk.read(path)).trim()
      if (text === '') throw new Error('it is empty')
      token = new Secret(text)
      readAt = clock.monotonic()
    } catch (cause) {
      const why = systemCode(cause) ?? (cause instanceof Error ? cause.message : String(cause))
      if (!token) {
        throw new RollcallError(
          'CREDENTIAL_UNAVAILABLE',
          `the token file ${path} cannot be used: ${why}`,
          { path },
          { cause },
        )
      }
    }
    return token
  }
}
