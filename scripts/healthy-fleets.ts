/** deploy/alerts/tests/healthy-*.yaml: what Prometheus sees of a healthy fleet, in promtool's notation. */

const hour = 3600
const day = 24 * hour
/** Seconds that signers date notBefore back. */
const backdating = 300
const signers = ['kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving']

interface Fleet {
  title: string
  /** Seconds. */
  life: number
  interval: number
  /** Age of the certificates at the beginning, and how long they are looked at. */
  age: number
  duration: number
}

export const fleets: Readonly<Record<string, Fleet>> = {
  'healthy-24h': { title: '24 hours', life: day, interval: 60, age: backdating, duration: 46 * hour },
  'healthy-30d': { title: '30 days', life: 30 * day, interval: 600, age: 18 * day, duration: 24 * day },
  // Every minute would take minutes.
  'healthy-1y': { title: 'a year', life: 365 * day, interval: 1800, age: 245 * day, duration: 120 * day },
}

type Series = [name: string, labels: Record<string, string>, values: string]

/** The file's text. */
export function healthyFleet({ title, life, interval, age, duration }: Fleet): string {
  const steps = Math.floor(duration / interval)
  const slack = Math.max(hour, 0.05 * life)
  // K-33 draws the deadline between 70 and 90 % of the life.
  const nodes = [
    { instance: '10.0.0.1:10250', node: 'early', share: 0.7, late: interval },
    { instance: '10.0.0.2:10250', node: 'late', share: 0.9, late: 0.8 * slack },
  ]
  const flat = (value: number) => `${value}+0x${steps}`
  const series: Series[] = []
  for (const { instance, node, share, late } of nodes) {
    const used = Math.ceil((share * life + late - backdating) / interval)
    /** Steps at which a new certificate comes, the first before the beginning. */
    const starts = [-Math.round((age - backdating) / interval)]
    for (let next = (starts[0] ?? 0) + used; next <= steps; next += used) starts.push(next)
    const each = (valueAt: (notBefore: number, step: number) => number, slope = 0) =>
      starts
        .map((start, index) => {
          const from = Math.max(start, 0)
          const until = Math.min(starts[index + 1] ?? steps + 1, steps + 1)
          const value = valueAt(start * interval - backdating, from)
          return `${value}${slope < 0 ? slope : `+${slope}`}x${until - from - 1}`
        })
        .join(' ')
    const left = each((notBefore, step) => notBefore + life - step * interval, -interval)
    for (const kind of ['client', 'serving']) {
      const labels = { job: 'rollcall-nodes', instance, kind }
      const own = (name: string, values: string) =>
        series.push([`rollcall_agent_certificate_${name}`, labels, values])
      own(
        'not_before_timestamp_seconds',
        each(notBefore => notBefore),
      )
      own(
        'expiration_timestamp_seconds',
        each(notBefore => notBefore + life),
      )
      own(
        'rotation_deadline_timestamp_seconds',
        each(notBefore => notBefore + Math.round(share * life)),
      )
      own('ttl_seconds', left)
      own('failed_attempts', flat(0))
    }
    const kubelet = { job: 'kubelet', instance, node }
    series.push(
      ['kubelet_certificate_manager_client_ttl_seconds', kubelet, left],
      ['kubelet_certificate_manager_server_ttl_seconds', kubelet, left],
      ['kubelet_certificate_manager_client_expiration_renew_errors', kubelet, flat(0)],
      ['kubelet_server_expiration_renew_errors', kubelet, flat(0)],
      ['up', { job: 'rollcall-nodes', instance }, flat(1)],
      ['up', kubelet, flat(1)],
      ['kube_node_status_condition', { condition: 'Ready', status: 'true', node }, flat(1)],
      ...requestsOf(
        node,
        starts.filter(start => start >= 0),
        interval,
      ),
    )
  }
  series.push(...controllerSeries(life, steps))
  return page(title, interval, duration, series)
}

/** For kube-state-metrics: the request of each renewal, approved and signed at once, and deleted after an hour (C-40). */
function requestsOf(node: string, starts: readonly number[], interval: number): Series[] {
  const kept = Math.max(hour / interval - 1, 0)
  return signers.flatMap((signer_name, kind) =>
    starts.flatMap((start, index): Series[] => {
      const csr = { certificatesigningrequest: `csr-${node}-${kind}-${index}`, signer_name }
      const during = (value: number) => `${start > 0 ? `_x${start} ` : ''}${value}+0x${kept}`
      const condition = 'kube_certificatesigningrequest_condition'
      return [
        ['kube_certificatesigningrequest_created', csr, during(start * interval)],
        [condition, { ...csr, condition: 'approved' }, during(1)],
        [condition, { ...csr, condition: 'denied' }, during(0)],
        ['kube_certificatesigningrequest_cert_length', csr, during(1200)],
      ]
    }),
  )
}

/** Two replicas that take the lead from each other. */
function controllerSeries(life: number, steps: number): Series[] {
  const flat = (value: number) => `${value}+0x${steps}`
  const third = Math.ceil(steps / 3)
  const turns = (first: number) => [first, 1 - first, first].map(value => `${value}+0x${third}`).join(' ')
  const states = { valid: 2, overdue: 0, expired: 0, not_yet_valid: 0, unknown: 0 }
  return [
    ...['client', 'serving'].flatMap(kind =>
      Object.entries(states).map(
        ([state, count]): Series => ['rollcall_node_certificates', { kind, state }, flat(count)],
      ),
    ),
    ...signers.flatMap((signer): Series[] => [
      ['rollcall_csr_pending_age_seconds', { signer }, flat(0)],
      ['rollcall_csr_unsigned_age_seconds', { signer }, flat(0)],
      ['rollcall_csr_most_of_one_subject', { signer }, flat(1)],
      ['rollcall_signing_ca_expiration_timestamp_seconds', { signer }, flat(10 * 365 * day)],
      ['rollcall_signing_lifetime_seconds', { signer }, flat(life)],
    ]),
    ...['approval', 'signing'].flatMap((controller): Series[] => [
      ['rollcall_controller_running', { controller, instance: 'a' }, turns(1)],
      ['rollcall_controller_running', { controller, instance: 'b' }, turns(0)],
    ]),
    ...['approval', 'signing'].map((stage): Series => ['rollcall_canary_failed', { stage }, flat(0)]),
    ['rollcall_node_serving', { state: 'valid' }, flat(2)],
    ...['self_signed', 'missing', 'san_mismatch'].map(
      (state): Series => ['rollcall_node_serving', { state }, flat(0)],
    ),
    ['rollcall_node_clock_skew_seconds', {}, flat(0.4)],
  ]
}

function page(title: string, interval: number, duration: number, series: readonly Series[]): string {
  const lines = series.map(([name, labels, values]) => {
    const list = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
    const selector = list.length > 0 ? `'${name}{${list.join(', ')}}'` : name
    return `      - series: ${selector}\n        values: "${values}"`
  })
  return `# Made by scripts/run24.mjs scripts/write-healthy-fleets.ts; change scripts/healthy-fleets.ts.
# A healthy fleet with certificates of ${title}. One node renews as early as K-33 allows, the other as late and then takes most
# of the slack. No alert may be pending or firing at any moment: ALERTS is asked for the whole time.
rule_files: [../rollcall.rules.yaml, ../kube-state-metrics.rules.yaml]
evaluation_interval: ${interval}s
tests:
  - interval: ${interval}s
    input_series:
${lines.join('\n')}
    promql_expr_test:
      # Both nodes have renewed both certificates, so the rules were evaluated over it.
      - expr: sum(changes(rollcall_agent_certificate_expiration_timestamp_seconds[${duration}s]) >= bool 1)
        eval_time: ${duration}s
        exp_samples:
          - labels: "{}"
            value: 4
      - expr: count by (alertname, alertstate) (count_over_time(ALERTS[${duration}s]))
        eval_time: ${duration}s
        exp_samples: []
`
}
