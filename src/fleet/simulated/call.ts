import { RollcallError } from '../../errors.ts'
import type { ApiRequest, ApiResponse, ConnectionConfig } from '../../kube/transport.ts'
import type { MachineProcess } from './machine.ts'

/**
 * One request on its way, from the client's call until its answer came or its stream ended. Whoever learns first that it
 * is over (server, network, the client's own signal or death) says so here; later news are ignored.
 */
export class Call {
  readonly client: MachineProcess
  readonly config: ConnectionConfig
  readonly request: ApiRequest
  readonly answer: Promise<ApiResponse>
  /** Aborts when the connection is gone, as the server sees it. */
  readonly gone = new AbortController()
  readonly #cleanups: (() => void)[] = []
  #over = false
  #resolve: (response: ApiResponse) => void = () => {}
  #fail: (error: Error) => void = () => {}

  constructor(client: MachineProcess, config: ConnectionConfig, request: ApiRequest) {
    this.client = client
    this.config = config
    this.request = request
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#fail = reject
    })
    const { signal } = request
    const aborted = () => this.fail('the request was aborted')
    signal?.addEventListener('abort', aborted, { once: true })
    this.onOver(() => signal?.removeEventListener('abort', aborted))
    this.onOver(client.onEnd(() => this.fail('the client ended')))
    if (signal?.aborted) aborted()
  }

  get over(): boolean {
    return this.#over
  }

  /** Runs `clean` when the call is over, at once when it is already. */
  onOver(clean: () => void): void {
    if (this.#over) clean()
    else this.#cleanups.push(clean)
  }

  /** Hands the client the whole answer. */
  succeed(response: ApiResponse): void {
    if (this.#over) return
    this.#resolve(response)
    this.#end()
  }

  /** Hands the client the head of an answer whose body goes on; from now on `breakStream` gets what `fail` says. */
  succeedWithStream(response: ApiResponse, breakStream: (error: Error) => void): void {
    if (this.#over) return
    this.#fail = breakStream
    this.#resolve(response)
  }

  /** The stream came to its end. */
  finish(): void {
    this.#end()
  }

  /** No answer, or no more of it. A dead client learns nothing. */
  fail(why: string): void {
    if (this.#over) return
    if (this.client.alive) {
      this.client.machine.record('unanswered', { method: this.request.method, url: this.request.url, why })
      this.#fail(
        new RollcallError('API_UNREACHABLE', `no answer from ${this.config.server}: ${why}`, {
          server: this.config.server,
        }),
      )
    }
    this.#end()
    this.gone.abort()
  }

  #end(): void {
    this.#over = true
    for (const clean of this.#cleanups.splice(0)) clean()
  }
}
