/** The metrics of the API with the names, labels and buckets that kube-apiserver gives them. */
import { Counter, Gauge, type Registry } from 'prom-client'
import { flowOf } from '../fairness/flow.ts'
import type { RequestKind } from '../fairness/seats.ts'
import { indexResources, type ResourceIndex } from '../resource-index.ts'
import type { StoredResource } from '../resources/resource.ts'
import { prefixOf } from '../stored-object.ts'
import { groupResource } from '../wire/api-error.ts'
import type { AnsweredRequest, ApiMetrics, MetricSources } from './api-metrics.ts'
import { certificateExpiration } from './certificate-expiration.ts'
import { watchCsrDurations } from './csr-durations.ts'
import { requestLabelNames, requestLabels } from './request-labels.ts'
import { CounterTally, HistogramTally } from './tallies.ts'

const durationBuckets = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
]
const sizeBuckets = [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072]
const kinds: readonly RequestKind[] = ['mutating', 'readOnly']

/** Counts into the registry, which belongs to one API: nothing is global. */
export function createApiMetrics(registry: Registry): ApiMetrics {
  const requests = requestMetrics(registry)
  const watch = watchMetrics(registry)
  const observeExpiration = certificateExpiration(registry)
  const rejected = new Counter({
    name: 'apiserver_flowcontrol_rejected_requests_total',
    help: 'Number of requests rejected for the sake of other clients.',
    labelNames: ['priority_level', 'flow_schema', 'reason'],
    registers: [registry],
  })
  return {
    attach(sources) {
      requests.attach(indexResources(sources.resources))
      registerSeats(registry, sources)
      registerStorage(registry, sources)
      registerCsrDurations(registry, sources)
    },
    answered(request) {
      requests.answered(request)
      observeExpiration(request)
    },
    refused(identity, reason) {
      const { level } = flowOf(identity)
      rejected.inc({ priority_level: level, flow_schema: level, reason })
    },
    watchEvent: watch.event,
    async render() {
      return { contentType: registry.contentType, text: await registry.metrics() }
    },
  }
}

function requestMetrics(registry: Registry) {
  const total = new CounterTally({
    name: 'apiserver_request_total',
    help: 'Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.',
    labelNames: [...requestLabelNames, 'code'],
    registry,
  })
  const duration = new HistogramTally({
    name: 'apiserver_request_duration_seconds',
    help: 'Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.',
    labelNames: requestLabelNames,
    buckets: durationBuckets,
    registry,
  })
  let index: ResourceIndex = indexResources([])
  return {
    attach(resources: ResourceIndex) {
      index = resources
    },
    answered({ info, code, seconds }: AnsweredRequest) {
      const labels = requestLabels(info, index)
      const { verb, dry_run, group, version, resource, subresource, scope } = labels
      const key = `${verb} ${dry_run} ${group}/${version}/${resource}/${subresource} ${scope}`
      total.count(`${key} ${code}`, () => ({ ...labels, code }))
      // A watch is as long as its client likes.
      if (verb !== 'WATCH') duration.observe(key, () => labels, seconds)
    },
  }
}

function watchMetrics(registry: Registry) {
  const events = new CounterTally({
    name: 'apiserver_watch_events_total',
    help: 'Number of events sent in watch clients.',
    labelNames: ['group', 'version', 'resource'],
    registry,
  })
  const sizes = new HistogramTally({
    name: 'apiserver_watch_events_sizes',
    help: 'Watch event size distribution in bytes.',
    labelNames: ['group', 'version', 'resource'],
    buckets: sizeBuckets,
    registry,
  })
  return {
    event({ group, version, plural }: StoredResource, bytes: number) {
      const key = `${group}/${version}/${plural}`
      const labels = () => ({ group, version, resource: plural })
      events.count(key, labels)
      sizes.observe(key, labels, bytes)
    },
  }
}

/** Read when they are asked for: they cost a request nothing. */
function registerSeats(registry: Registry, { seats }: MetricSources): void {
  const gauge = (name: string, help: string, of: Record<RequestKind, number>) =>
    new Gauge({
      name,
      help,
      labelNames: ['request_kind'],
      registers: [registry],
      collect() {
        for (const kind of kinds) this.set({ request_kind: kind }, of[kind])
      },
    })
  gauge(
    'apiserver_current_inflight_requests',
    'Number of requests that are being carried out for each kind.',
    seats.running,
  )
  gauge(
    'apiserver_current_inqueue_requests',
    'Number of requests that wait for their turn for each kind.',
    seats.waiting,
  )
  new Gauge({
    name: 'apiserver_longrunning_requests',
    help: 'Number of open watches.',
    labelNames: ['verb', 'component'],
    registers: [registry],
    collect() {
      this.set({ verb: 'WATCH', component: 'apiserver' }, seats.watches)
    },
  })
}

function registerStorage(registry: Registry, { store, resources }: MetricSources): void {
  new Gauge({
    name: 'apiserver_storage_objects',
    help: 'Number of stored objects at the time of last check split by kind.',
    labelNames: ['resource'],
    registers: [registry],
    collect() {
      for (const resource of resources) {
        if (!resource.stored) continue
        const { items, remaining } = store.list(prefixOf(resource), { limit: 1 })
        this.set({ resource: groupResource(resource) }, items.length + remaining)
      }
    },
  })
}

function registerCsrDurations(registry: Registry, { store }: MetricSources): void {
  const counter = (what: string, help: string) =>
    new Counter({
      name: `apiserver_certificates_registry_csr_${what}_duration_total`,
      help,
      labelNames: ['signerName'],
      registers: [registry],
    })
  const requested = counter('requested', 'Total number of issued CSRs with a requested duration.')
  const honored = counter(
    'honored',
    'Total number of issued CSRs with a requested duration that was honored.',
  )
  watchCsrDurations(store, verdict => {
    requested.inc({ signerName: verdict.signerName })
    if (verdict.honored) honored.inc({ signerName: verdict.signerName })
  })
}
