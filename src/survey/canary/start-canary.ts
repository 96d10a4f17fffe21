/** Runs the canary from time to time and tells metrics how it ended. */
import { Gauge, type Registry } from 'prom-client'
import type { KubeClient } from '../../kube/client.ts'
import { type Clock, type Log, type Random, sleep } from '../../ports.ts'
import { type CanaryOutcome, runCanary } from './run-canary.ts'

export interface CanaryMetrics {
  ended(outcome: CanaryOutcome, now: number): void
  /** This process does not look any more. */
  stop(): void
}

export const noCanary: CanaryMetrics = { ended() {}, stop() {} }

/** Nothing is told before the first one has ended. `failed` is 1 for the stage that the last one did not get past. */
export function canaryMetrics(registry: Registry): CanaryMetrics {
  const registers = [registry]
  const failed = new Gauge({
    name: 'rollcall_canary_failed',
    help: 'Whether the last canary request got no approval, or no certificate, in time: 1 for the stage that failed.',
    labelNames: ['stage'],
    registers,
  })
  const seconds = new Gauge({
    name: 'rollcall_canary_seconds',
    help: 'How long the last canary request that was issued took.',
    registers,
  })
  const at = new Gauge({
    name: 'rollcall_canary_last_success_timestamp_seconds',
    help: 'When the last canary request was issued.',
    registers,
  })
  const clear = () => {
    failed.reset()
    for (const gauge of [seconds, at]) gauge.remove()
  }
  clear()
  return {
    ended({ ended, took }, now) {
      const stage = stageOf(ended)
      for (const each of ['approval', 'signing']) failed.set({ stage: each }, each === stage ? 1 : 0)
      if (ended !== 'issued') return
      seconds.set(took / 1000)
      at.set(now / 1000)
    },
    stop: clear,
  }
}

function stageOf(ended: CanaryOutcome['ended']): 'approval' | 'signing' | undefined {
  if (ended === 'issued') return undefined
  return ended === 'undecided' || ended === 'denied' ? 'approval' : 'signing'
}

export interface CanaryLoop {
  client: KubeClient
  asNode: KubeClient
  clock: Clock
  random: Random
  log: Log
  /** Between the end of one and the beginning of the next. */
  intervalSeconds: number
  metrics: CanaryMetrics
}

/** Milliseconds: what operators' alert gives approver and signer together. */
const patience = 120_000

/** The first one at once. One that the API does not take is told to the log; it says nothing about approver or signer. */
export function startCanary(options: CanaryLoop): { stop(): Promise<void> } {
  const { clock, log, metrics, intervalSeconds } = options
  const stopping = new AbortController()
  const { signal } = stopping
  async function run(): Promise<void> {
    while (!signal.aborted) {
      try {
        const outcome = await runCanary({ ...options, patience, signal })
        if (signal.aborted) break
        metrics.ended(outcome, clock.now())
        if (outcome.ended !== 'issued')
          log.warn('the canary request did not end in a certificate', { ...outcome })
      } catch (error) {
        log.error('the canary request could not be made', { error: String(error) })
      }
      await sleep(clock, intervalSeconds * 1000, signal)
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await running
      metrics.stop()
    },
  }
}
