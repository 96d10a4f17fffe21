import { RollcallError } from '../errors.ts'
import type { ApiRequest, ApiResponse, Transport } from '../kube/transport.ts'

/** One credential's way to the API. */
interface Link {
  transport: Transport
  /** Serial number of the client certificate it presents. */
  serial: string
  /** Watches under way; aborted when the credential is replaced. */
  readonly streams: Set<AbortController>
  /** Requests that have no answer yet. */
  pending: number
  retired: boolean
}

/**
 * The node's connection to the API under its own certificate, across rotations: a Transport that always uses the
 * certificate in force. While there is none, requests reject with CREDENTIAL_UNAVAILABLE instead of going out
 * anonymously (K-6).
 */
export class ApiSession implements Transport {
  readonly #onAnswer: (serial: string, status: number) => void
  #link: Link | undefined

  /** `onAnswer` hears of every answer and of the certificate it was given to, before the caller does. */
  constructor(onAnswer: (serial: string, status: number) => void) {
    this.#onAnswer = onAnswer
  }

  /** Whether requests can be made. */
  get ready(): boolean {
    return this.#link !== undefined
  }

  /**
   * From now on requests go through `transport`. Watches of the old credential end and are resumed by their owners with
   * the new one (K-51: at once instead of within 10 s); requests under way get their answer, then its connections close.
   */
  use(next: { transport: Transport; serial: string } | undefined): void {
    const old = this.#link
    this.#link = next && { ...next, streams: new Set(), pending: 0, retired: false }
    if (!old) return
    old.retired = true
    for (const stream of [...old.streams]) stream.abort()
    closeWhenIdle(old)
  }

  async request(request: ApiRequest): Promise<ApiResponse> {
    const link = this.#link
    if (!link) {
      throw new RollcallError(
        'CREDENTIAL_UNAVAILABLE',
        'The node has no valid client certificate now; it asks for one.',
      )
    }
    const abort = new AbortController()
    const unlink = follow(request.signal, abort)
    link.pending++
    let response: ApiResponse
    try {
      response = await link.transport.request({ ...request, signal: abort.signal })
    } catch (error) {
      unlink()
      throw error
    } finally {
      link.pending--
      closeWhenIdle(link)
    }
    this.#onAnswer(link.serial, response.status)
    if (response.body instanceof Uint8Array) {
      unlink()
      return response
    }
    if (link.retired) abort.abort()
    link.streams.add(abort)
    const end = () => {
      link.streams.delete(abort)
      unlink()
    }
    return { ...response, body: untilEnd(response.body, end) }
  }

  /** Ends all connections of the present credential; it stays in use. */
  closeConnections(): void {
    this.#link?.transport.closeConnections()
  }
}

function closeWhenIdle(link: Link): void {
  if (link.retired && link.pending === 0) link.transport.closeConnections()
}

/** Aborts `abort` with `signal`; the function returned ends that. */
function follow(signal: AbortSignal | undefined, abort: AbortController): () => void {
  const onAbort = () => abort.abort()
  if (signal?.aborted) onAbort()
  signal?.addEventListener('abort', onAbort, { once: true })
  return () => signal?.removeEventListener('abort', onAbort)
}

async function* untilEnd(chunks: AsyncIterable<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } finally {
    end()
  }
}
