import { type Clock, type Random, sleep } from '../../ports.ts'
import { type Container, type Probe, type ProbeKind, probeKinds } from '../pod.ts'
import { askProbe, type ProbeTarget } from './ask-probe.ts'
import { afterAnswer, initialHistory, type ProbeHistory, probeTimes } from './probe-history.ts'

export interface ContainerProbesOptions extends ProbeTarget {
  clock: Clock
  random: Random
  /** The container was running before this agent: its first probes are spread over their period. */
  adopted: boolean
  /** A verdict changed. */
  onVerdict(): void
}

/** The probes of one run of a container: the startup probe first, then liveness and readiness side by side. */
export class ContainerProbes {
  readonly #options: ContainerProbesOptions
  readonly #stopping = new AbortController()
  readonly #histories = new Map<ProbeKind, ProbeHistory>()
  #running: Promise<unknown> = Promise.resolve()

  constructor(options: ContainerProbesOptions) {
    this.#options = options
    for (const kind of probeKinds) {
      if (options.container[kind]) this.#histories.set(kind, initialHistory(kind))
    }
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  get started(): boolean {
    return this.#verdict('startupProbe') === true
  }

  /** Without a readiness probe a container is ready when it has started. */
  get ready(): boolean {
    return this.started && this.#verdict('readinessProbe') === true
  }

  /** Which probe says that the container has to be restarted. */
  get failed(): ProbeKind | undefined {
    if (this.#verdict('startupProbe') === false) return 'startupProbe'
    return this.#verdict('livenessProbe') === false ? 'livenessProbe' : undefined
  }

  #verdict(kind: ProbeKind): boolean | undefined {
    const history = this.#histories.get(kind)
    return history ? history.verdict : true
  }

  async #run(): Promise<void> {
    const { startupProbe, livenessProbe, readinessProbe } = this.#options.container
    if (startupProbe) await this.#loop('startupProbe', startupProbe)
    if (this.#stopping.signal.aborted || this.failed) return
    await Promise.all([
      livenessProbe && this.#loop('livenessProbe', livenessProbe),
      readinessProbe && this.#loop('readinessProbe', readinessProbe),
    ])
  }

  /** Asks until the startup probe has a verdict, liveness has failed, or for ever. */
  async #loop(kind: ProbeKind, probe: Probe): Promise<void> {
    const { clock, random, adopted, onVerdict } = this.#options
    const { signal } = this.#stopping
    const { initialDelay, period } = probeTimes(probe)
    await sleep(clock, adopted ? random.float() * period : initialDelay, signal)
    while (!signal.aborted) {
      const answer = await this.#ask(probe)
      if (signal.aborted) return
      const before = this.#histories.get(kind) ?? initialHistory(kind)
      const after = afterAnswer(before, answer, probe)
      this.#histories.set(kind, after)
      if (after.verdict !== before.verdict) onVerdict()
      const over =
        kind === 'startupProbe' ? after.verdict !== undefined : kind === 'livenessProbe' && !after.verdict
      if (over) return
      await sleep(clock, period, signal)
    }
  }

  async #ask(probe: Probe): Promise<boolean> {
    const { clock } = this.#options
    const abort = new AbortController()
    const end = () => abort.abort()
    this.#stopping.signal.addEventListener('abort', end, { once: true })
    const timer = clock.after(probeTimes(probe).timeout, end)
    try {
      return await askProbe(probe, this.#options, abort.signal)
    } finally {
      timer.cancel()
      this.#stopping.signal.removeEventListener('abort', end)
    }
  }
}

/** Whether a container has any probe. */
export function hasProbes(container: Container): boolean {
  return probeKinds.some(kind => container[kind])
}
