import { hasCode } from '../errors.ts'
import type { AttemptKey } from '../join/request-certificate.ts'

/**
 * The key of an attested join. It stays the same from attempt to attempt: when an answer was lost or a request was pruned,
 * the machine attests again and asks for the same. It ends with the certificate, with a denial, and with the key itself.
 */
export class AttestedKey {
  #key: Promise<AttemptKey> | undefined

  get(make: () => Promise<AttemptKey>): Promise<AttemptKey> {
    this.#key ??= make().catch(error => {
      this.#key = undefined
      throw error
    })
    return this.#key
  }

  failed(error: unknown): void {
    const over = ['CSR_DENIED', 'CSR_FAILED', 'TOKEN_KEY_ABSENT', 'KEY_MISMATCH'] as const
    if (over.some(code => hasCode(error, code))) this.forget()
  }

  forget(): void {
    this.#key = undefined
  }
}
