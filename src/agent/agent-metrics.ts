import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { CertificateStatus } from '../hold/certificate-status.ts'
import type { Clock } from '../ports.ts'

/** A certificate as the metrics see it. */
export interface CertificateView {
  /** notAfter of the one that may be presented, milliseconds since the epoch; undefined when none or lapsed. */
  usableUntil(): number | undefined
  /** Of the one held, lapsed or not. */
  status(): Pick<CertificateStatus, 'notBefore' | 'notAfter' | 'deadline' | 'failures'>
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
  registry = new Registry(),
): AgentMetrics {
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
  registerOwn(registry, { client, ...(serving && { serving }) }, secondsUntil)
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

/** What the kubelet does not tell: all that an alert needs to know whether a certificate is overdue. */
function registerOwn(
  registry: Registry,
  views: Readonly<Record<string, CertificateView>>,
  secondsUntil: (moment: number) => number,
): void {
  type Status = ReturnType<CertificateView['status']>
  const gauge = (name: string, help: string, value: (status: Status) => number | undefined) =>
    new Gauge({
      name: `rollcall_agent_certificate_${name}`,
      help,
      labelNames: ['kind'],
      registers: [registry],
      collect() {
        this.reset()
        for (const [kind, view] of Object.entries(views)) {
          const number = value(view.status())
          if (number !== undefined) this.set({ kind }, number)
        }
      },
    })
  const seconds = (moment: number | undefined) => (moment === undefined ? undefined : moment / 1000)
  gauge(
    'ttl_seconds',
    'Seconds until the certificate expires, negative since when it has expired; absent when there never was one.',
    ({ notAfter }) => (notAfter === undefined ? undefined : secondsUntil(notAfter)),
  )
  gauge('not_before_timestamp_seconds', 'When the certificate begins to be valid.', status =>
    seconds(status.notBefore),
  )
  gauge('expiration_timestamp_seconds', 'When the certificate ends or ended.', status =>
    seconds(status.notAfter),
  )
  gauge(
    'rotation_deadline_timestamp_seconds',
    'When the certificate is or was due to be renewed: between 70 and 90 % of its life (K-33).',
    status => seconds(status.deadline),
  )
  gauge(
    'failed_attempts',
    'Attempts to get a certificate that failed since the last that succeeded.',
    ({ failures }) => failures,
  )
}
