import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Clock } from '../ports.ts'

/** A certificate as the metrics see it. */
export interface CertificateView {
  /** notAfter of the one that may be presented, milliseconds since the epoch; undefined when none or lapsed. */
  usableUntil(): number | undefined
  /** notAfter of the one held, lapsed or not. */
  heldUntil(): number | undefined
}

export interface AgentMetrics {
  clientFailed(): void
  servingFailed(): void
  /** `age`: seconds that the replaced certificate was in force, from its notBefore. */
  servingRotated(age: number): void
  /** Prometheus' text format. */
  text(): Promise<string>
}

/** K-1.8; seconds. */
const rotationBuckets = [
  60, 3600, 14_400, 86_400, 604_800, 2_592_000, 7_776_000, 15_552_000, 31_104_000, 124_416_000,
]

/**
 * The kubelet's certificate metrics under its own names and with its own quirks (K section 1.8: the ttl is +Inf when
 * there is no usable certificate, so an alert on a small value never fires on a lapsed node), and beside them an honest
 * `rollcall_agent_certificate_ttl_seconds`, which is negative then. `serving` absent: serverTLSBootstrap is off.
 */
export function createAgentMetrics(
  clock: Clock,
  client: CertificateView,
  serving: CertificateView | undefined,
): AgentMetrics {
  const registry = new Registry()
  const registers = [registry]
  const secondsUntil = (moment: number) => (moment - clock.now()) / 1000
  const kubeletTtl = (name: string, help: string, view: CertificateView) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const until = view.usableUntil()
        this.set(until === undefined ? Number.POSITIVE_INFINITY : Math.trunc(secondsUntil(until)))
      },
    })
  kubeletTtl(
    'kubelet_certificate_manager_client_ttl_seconds',
    "Seconds until the client certificate expires; +Inf when there is none or it has expired, as the kubelet's.",
    client,
  )
  if (serving) {
    kubeletTtl(
      'kubelet_certificate_manager_server_ttl_seconds',
      "Seconds until the serving certificate expires; +Inf when there is none or it has expired, as the kubelet's.",
      serving,
    )
  }
  new Gauge({
    name: 'rollcall_agent_certificate_ttl_seconds',
    help: 'Seconds until the certificate expires, negative since when it has expired; absent when there never was one.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, view] of Object.entries({ client, serving })) {
        const until = view?.heldUntil()
        if (until !== undefined) this.set({ kind }, secondsUntil(until))
      }
    },
  })
  const clientFailures = new Counter({
    name: 'kubelet_certificate_manager_client_expiration_renew_errors',
    help: 'Failed attempts to get a client certificate.',
    registers,
  })
  const servingFailures = new Counter({
    name: 'kubelet_server_expiration_renew_errors',
    help: 'Failed attempts to get a serving certificate.',
    registers,
  })
  const rotations = new Histogram({
    name: 'kubelet_certificate_manager_server_rotation_seconds',
    help: 'Seconds that a serving certificate had been valid when it was replaced.',
    buckets: rotationBuckets,
    registers,
  })
  return {
    clientFailed: () => clientFailures.inc(),
    servingFailed: () => servingFailures.inc(),
    servingRotated: age => rotations.observe(age),
    text: () => registry.metrics(),
  }
}
