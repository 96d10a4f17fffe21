import { backoffAfter } from '../hold/backoff.ts'
import { type Clock, type Log, type Random, sleep } from '../ports.ts'
import type { ServeHttps, ServingEndpoint, ServingOptions } from './serving.ts'

export interface NodeServerOptions extends ServingOptions {
  clock: Clock
  random: Random
  log: Log
  listen: ServeHttps
  /** It listens now. */
  onListening(): void
}

/** The node's HTTPS server. A port that is taken does not end the agent (H-1 ends the kubelet): it is tried again. */
export class NodeServer {
  readonly #options: NodeServerOptions
  readonly #stopping = new AbortController()
  #endpoint: ServingEndpoint | undefined
  #retrying: Promise<void> | undefined
  #lastError: string | undefined

  constructor(options: NodeServerOptions) {
    this.#options = options
  }

  /** undefined while it does not listen. */
  get port(): number | undefined {
    return this.#endpoint?.port
  }

  get lastError(): string | undefined {
    return this.#lastError
  }

  /** Resolves after the first attempt; others follow in the background. */
  async start(): Promise<void> {
    if (!(await this.#attempt())) this.#retrying = this.#retry()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#retrying
    await this.#endpoint?.close()
  }

  async #attempt(): Promise<boolean> {
    const { address, port, log } = this.#options
    try {
      this.#endpoint = await this.#options.listen(this.#options)
      this.#lastError = undefined
      this.#options.onListening()
      return true
    } catch (error) {
      this.#lastError = error instanceof Error ? error.message : String(error)
      log.error('the HTTPS server of the node cannot listen', { address, port, error: this.#lastError })
      return false
    }
  }

  async #retry(): Promise<void> {
    const { clock, random } = this.#options
    for (let failures = 1; ; failures++) {
      await sleep(clock, backoffAfter(failures, random.float()), this.#stopping.signal)
      if (this.#stopping.signal.aborted || (await this.#attempt())) return
    }
  }
}
