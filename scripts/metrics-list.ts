/** All metrics that the programs export, as their own registries tell them, and docs/reference/metrics.md made of them. */
import { collectDefaultMetrics, Registry } from 'prom-client'
import { createAgentMetrics } from '../src/agent/agent-metrics.ts'
import { registerPodMetrics } from '../src/agent/pod-metrics.ts'
import { defaultFairness } from '../src/apiserver/fairness/limits.ts'
import { Seats } from '../src/apiserver/fairness/seats.ts'
import { createApiMetrics } from '../src/apiserver/metrics/prometheus.ts'
import { allResources } from '../src/apiserver/resources/index.ts'
import { createMemoryStore } from '../src/apiserver/storage/memory-store.ts'
import { attestationMetrics } from '../src/controller/attestation/metrics.ts'
import { controllerMetrics } from '../src/controller/metrics.ts'
import type { Clock } from '../src/ports.ts'

export interface DocumentedMetric {
  name: string
  type: string
  help: string
  labels: string[]
  from: Origin
}

const origins = {
  controllers: `## Controllers and the cluster
From \`rollcall controller --metrics-listen ADDRESS:PORT\`, and with \`/metrics\` of the API in \`up\` and \`server\`. What describes
the cluster (\`rollcall_csr_…\` and \`rollcall_node_…\` gauges) comes from the process that leads. Nothing is labelled by node; signers
that are not Kubernetes' own, and reasons that others made up, are \`other\`.`,
  agent: `## Agents
From \`/metrics\` of each node's HTTPS server. The first ones have the kubelet's names and quirks.`,
  api: `## The embedded API
From \`/metrics\` of \`up\` and \`server\`, with kube-apiserver's names.`,
  process: `## The process
With the controllers' and the API's.`,
} as const
type Origin = keyof typeof origins

const stopped: Clock = { now: () => 0, monotonic: () => 0, after: () => ({ cancel() {} }) }

/** In the order in which the programs register them. */
export async function documentedMetrics(): Promise<DocumentedMetric[]> {
  const registries: Record<Origin, Registry> = {
    controllers: new Registry(),
    agent: new Registry(),
    api: new Registry(),
    process: new Registry(),
  }
  controllerMetrics({
    registry: registries.controllers,
    clock: stopped,
    authorities: {},
    certificateLifetimeSeconds: 0,
  })
  attestationMetrics(registries.controllers)
  const view = { usableUntil: () => undefined, status: () => ({ failures: 0 }) }
  createAgentMetrics(stopped, view, view, registries.agent)
  registerPodMetrics(registries.agent, { views: () => [], findings: () => [], lastLook: undefined })
  const store = createMemoryStore({ clock: stopped })
  const seats = new Seats(stopped, defaultFairness)
  createApiMetrics(registries.api).attach({ store, seats, resources: allResources })
  collectDefaultMetrics({ register: registries.process })
  const lists = Object.entries(registries).map(([from, registry]) => listOf(registry, from as Origin))
  await store.close()
  return lists.flat()
}

/** prom-client's metrics know their labels, its types do not say so. */
function listOf(registry: Registry, from: Origin): DocumentedMetric[] {
  const metrics = registry.getMetricsAsArray() as unknown as (Omit<DocumentedMetric, 'labels' | 'from'> & {
    labelNames: string[]
  })[]
  return metrics.map(({ name, type, help, labelNames }) => ({ name, type, help, labels: labelNames, from }))
}

/** Names of the series that Prometheus makes of a metric. */
export function seriesNames({ name, type }: DocumentedMetric): string[] {
  return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name]
}

export function metricsPage(metrics: readonly DocumentedMetric[]): string {
  const sections = Object.entries(origins).map(([from, introduction]) => {
    const rows = metrics.filter(metric => metric.from === from).map(rowOf)
    return `${introduction}\n\n| metric | type | labels | |\n|---|---|---|---|\n${rows.join('\n')}\n`
  })
  return `# Metrics

Made by \`node scripts/run24.mjs scripts/metrics-page.ts\` from the code; do not edit. How Prometheus is told of them:
\`deploy/prometheus/prometheus.yml\`; alerts: [alerts](alerts/README.md); dashboard: \`deploy/grafana/rollcall.json\`.

${sections.join('\n')}`
}

function rowOf({ name, type, labels, help }: DocumentedMetric): string {
  return `| \`${name}\` | ${type} | ${labels.join(', ')} | ${help.replaceAll('|', '\\|')} |`
}
