import { Counter, type Registry } from 'prom-client'

/** kube-apiserver's own counters of logs that are read from kubelets (H-7). */
export interface TunnelMetrics {
  podLogs(insecure: boolean): void
  /** Only failures of verification count: a kubelet without a serving certificate does not (H-7). */
  podLogsTlsFailure(): void
}

export function createTunnelMetrics(registry: Registry): TunnelMetrics {
  const insecureBackends = new Counter({
    name: 'kube_apiserver_pod_logs_insecure_backend_total',
    help: 'Total number of requests for pods/logs sliced by usage type: enforce_tls, skip_tls_allowed, skip_tls_denied',
    labelNames: ['usage'],
    registers: [registry],
  })
  const tlsFailures = new Counter({
    name: 'kube_apiserver_pod_logs_backend_tls_failure_total',
    help: 'Total number of requests for pods/logs that failed due to kubelet server TLS verification',
    registers: [registry],
  })
  return {
    podLogs: insecure => insecureBackends.inc({ usage: insecure ? 'skip_tls_allowed' : 'enforce_tls' }),
    podLogsTlsFailure: () => tlsFailures.inc(),
  }
}
