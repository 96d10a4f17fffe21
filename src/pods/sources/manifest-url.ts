import { type Clock, withTimeout } from '../../ports.ts'
import { refusal } from '../manifest/finding.ts'
import { largestManifest } from '../manifest/read-manifest.ts'
import type { FileReading } from './desired-pods.ts'

/** Milliseconds between two questions, and for an answer: the kubelet's httpCheckFrequency, and its client's patience. */
const interval = 20_000
const patience = 10_000
/** As a kubelet takes an empty answer. */
const nothing = '{"apiVersion":"v1","kind":"PodList","items":[]}'

/** Fetches a text of at most `mostBytes` bytes, over verified TLS or from this machine. Rejects where there is no answer. */
export type FetchText = (
  url: string,
  mostBytes: number,
  signal: AbortSignal,
) => Promise<{ status: number; text: string }>

export interface ManifestUrlOptions {
  url: string
  fetchText: FetchText
  clock: Clock
  /** What it gave; without text the pods of the last answer stay. Called again only when it changed. */
  onReading(reading: FileReading): void
}

/** Follows a manifest at a URL, as a kubelet's manifestURL: one pod or a list, looked at every 20 s. */
export class ManifestUrl {
  readonly #options: ManifestUrlOptions
  readonly #stopping = new AbortController()
  #timer: { cancel(): void } | undefined
  #asking: Promise<void> = Promise.resolve()
  #last: string | undefined

  constructor(options: ManifestUrlOptions) {
    this.#options = options
  }

  start(): void {
    this.#asking = this.#ask().then(() => {
      if (this.#stopping.signal.aborted) return
      this.#timer = this.#options.clock.after(interval, () => this.start())
    })
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#timer?.cancel()
    await this.#asking
  }

  async #ask(): Promise<void> {
    const reading = await this.#read()
    const seen = JSON.stringify(reading)
    if (this.#stopping.signal.aborted || seen === this.#last) return
    this.#last = seen
    this.#options.onReading(reading)
  }

  async #read(): Promise<FileReading> {
    const { url, fetchText, clock } = this.#options
    const path = url
    const over = new AbortController()
    const stop = () => over.abort()
    this.#stopping.signal.addEventListener('abort', stop)
    try {
      const answer = fetchText(url, largestManifest, over.signal)
      const late = () => new Error(`no answer within ${patience / 1000} s`)
      const { status, text } = await withTimeout(clock, patience, answer, late)
      if (status === 200) return { path, text: text.trim() === '' ? nothing : text }
      return { path, problem: refusal('Unreadable', `answers with status ${status}`) }
    } catch (error) {
      const why =
        error instanceof Error ? (error.cause instanceof Error ? error.cause : error).message : error
      return { path, problem: refusal('Unreadable', `cannot be fetched (${why})`) }
    } finally {
      over.abort()
      this.#stopping.signal.removeEventListener('abort', stop)
    }
  }
}
