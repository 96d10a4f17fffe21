import type { ApiRequest, ApiResponse } from '../../kube/transport.ts'
import type { Database } from './database.ts'

/** Watches over the promise of a write's answer: at the moment the API gives it, the write is in the database. */
export class DurabilityWatch {
  readonly violations: string[] = []
  /** Writes that were acknowledged. */
  count = 0
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  see(request: ApiRequest, { status, body }: ApiResponse): void {
    if (!['POST', 'PUT', 'PATCH'].includes(request.method) || status >= 300 || !(body instanceof Uint8Array))
      return
    // Stored objects begin with their kind and version; reviews, which are not stored, have no resourceVersion.
    const head = new TextDecoder().decode(body.subarray(0, 300))
    const revision = /"metadata":\{"resourceVersion":"(\d+)"/.exec(head)?.[1]
    if (revision === undefined) return
    this.count += 1
    if (Number(revision) > this.#database.revision) {
      this.violations.push(
        `${request.method} ${request.url} was answered before revision ${revision} was durable`,
      )
    }
  }
}
