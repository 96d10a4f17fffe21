/** Looks from time to time at what each node serves; tells what it saw, and the numbers of nodes as metrics. */
import { Gauge, type Registry } from 'prom-client'
import { type KubeClient, listAll } from '../../kube/client.ts'
import { formatTime } from '../../kube/time-format.ts'
import { type KubeNode, resources } from '../../kube/types.ts'
import { type Clock, type Log, type Random, sleep } from '../../ports.ts'
import { type ProbeTarget, probeTargets } from './probe-targets.ts'
import { type PublishedProbe, publishProbes } from './published-probes.ts'
import { type Seen, type ServingState, servingState, servingStates } from './serving-state.ts'

export interface ProbeMetrics {
  /** Of the last round. */
  counted(states: ReadonlyMap<ServingState, number>): void
  stop(): void
}

export const noProbes: ProbeMetrics = { counted() {}, stop() {} }

export function probeMetrics(registry: Registry): ProbeMetrics {
  const gauge = new Gauge({
    name: 'rollcall_node_serving',
    help: 'Nodes by what they presented on the port of their kubelet when it was last looked at.',
    labelNames: ['state'],
    registers: [registry],
  })
  return {
    counted(states) {
      for (const state of servingStates) gauge.set({ state }, states.get(state) ?? 0)
    },
    stop: () => gauge.reset(),
  }
}

/** Makes a TLS handshake without trusting anybody, and sends nothing. Never rejects. */
export type LookAtServing = (target: { host: string; port: number }) => Promise<Seen>

export interface ProbesOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  look: LookAtServing
  /** A round takes about this long, so that a large fleet is not knocked at all at once. */
  intervalSeconds: number
  /** Whether addresses of this machine may be nodes: in `up` alone. */
  loopback?: boolean
  metrics: ProbeMetrics
}

/** Handshakes in flight. */
const parallel = 8

export function startProbes(options: ProbesOptions): { stop(): Promise<void> } {
  const { client, log, metrics, clock, intervalSeconds } = options
  const stopping = new AbortController()
  const { signal } = stopping
  async function run(): Promise<void> {
    while (!signal.aborted) {
      const began = clock.monotonic()
      try {
        const seen = await round(options, signal)
        if (signal.aborted) break
        metrics.counted(countStates(seen, clock.now()))
        await publishProbes(client, seen, intervalSeconds, signal)
      } catch (error) {
        if (!signal.aborted)
          log.error('what nodes serve could not be looked at, or told', { error: String(error) })
      }
      const rest = intervalSeconds * 1000 - (clock.monotonic() - began)
      // At least a moment, so that a list that fails at once is not asked for without end.
      await sleep(clock, Math.max(rest, 1000), signal)
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

function countStates(seen: readonly PublishedProbe[], now: number): Map<ServingState, number> {
  const counts = new Map<ServingState, number>()
  for (const probe of seen) {
    const state = servingState(probe, probe.host, now)
    counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  return counts
}

async function round(options: ProbesOptions, signal: AbortSignal): Promise<PublishedProbe[]> {
  const { client, clock, random, look, intervalSeconds, loopback = false } = options
  const { items } = await listAll<KubeNode>(client, resources.nodes, {}, signal, withAddresses)
  const queue = shuffled(probeTargets(items, loopback), random)
  // The first round is to tell soon; later ones are spread over half the interval.
  const pause = ((intervalSeconds * 1000) / 2 / Math.max(queue.length, 1)) * parallel
  const seen: PublishedProbe[] = []
  async function lane(): Promise<void> {
    for (let next = queue.pop(); next && !signal.aborted; next = queue.pop()) {
      await sleep(clock, pause * random.float(), signal)
      const { chain, failure } = await look(next)
      const at = formatTime(clock.now())
      seen.push({ ...next, at, chain, ...(failure !== undefined && { failure }) })
    }
  }
  await Promise.all(Array.from({ length: parallel }, lane))
  return seen
}

/** 5,000 Nodes are 40 MB. */
const withAddresses = ({ apiVersion, kind, metadata, status }: KubeNode): KubeNode => ({
  apiVersion,
  kind,
  metadata: { name: metadata.name },
  status: {
    ...(status?.addresses && { addresses: status.addresses }),
    ...(status?.daemonEndpoints && { daemonEndpoints: status.daemonEndpoints }),
  },
})

function shuffled(targets: ProbeTarget[], random: Random): ProbeTarget[] {
  return targets
    .map(target => ({ target, at: random.float() }))
    .sort((a, b) => a.at - b.at)
    .map(({ target }) => target)
}
