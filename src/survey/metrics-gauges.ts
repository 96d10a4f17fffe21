import { Gauge, type Registry } from 'prom-client'
import { type CertificateKind, type CertificateNumbers, certificateKinds } from './metrics-certificates.ts'
import type { SignerNumbers } from './metrics-requests.ts'

export interface SurveyNumbers {
  /** By signer. */
  requests: ReadonlyMap<string, SignerNumbers>
  nodes?: {
    count: number
    certificates: Record<CertificateKind, CertificateNumbers>
    /** Seconds. */
    largestSkew: number
  }
}

/** Registers the gauges; `look` is called once for each page, and where it gives nothing there is no series. */
export function surveyGauges(registry: Registry, look: () => SurveyNumbers | undefined): void {
  const registers = [registry]
  const gauge = <L extends string>(name: string, help: string, labelNames: L[], collect?: () => void) =>
    new Gauge<L>({ name, help, labelNames, registers, ...(collect && { collect }) })

  // The first that is registered is the first to be collected: it looks for all of them.
  const stored = gauge(
    'rollcall_csr_stored',
    'Certificate signing requests in the API, by what became of them.',
    ['signer', 'state'],
    refresh,
  )
  const requestGauges = registerRequestGauges(gauge)
  const nodeGauges = registerNodeGauges(gauge)

  function refresh(): void {
    for (const each of [stored, ...Object.values(requestGauges), ...Object.values(nodeGauges)]) each.reset()
    // Without labels a series stays, as 0.
    for (const each of [nodeGauges.nodes, nodeGauges.skew]) each.remove()
    const numbers = look()
    for (const [signer, of] of numbers?.requests ?? []) {
      for (const [state, count] of Object.entries(of.stored)) stored.set({ signer, state }, count)
      fillRequests(requestGauges, signer, of)
    }
    if (numbers?.nodes) fillNodes(nodeGauges, numbers.nodes)
  }
}

type MakeGauge = <L extends string>(name: string, help: string, labelNames: L[]) => Gauge<L>

function registerRequestGauges(gauge: MakeGauge) {
  return {
    waiting: gauge(
      'rollcall_csr_pending',
      'Nodes and other subjects whose request waits for an approval or denial, by how long they have waited.',
      ['signer', 'age'],
    ),
    wait: gauge(
      'rollcall_csr_pending_age_seconds',
      'How long the subject that waits longest has had no approval or denial; from the first of its requests, since a kubelet replaces one every 15 minutes.',
      ['signer'],
    ),
    unsigned: gauge(
      'rollcall_csr_unsigned',
      'Requests that are approved, without a certificate and not failed.',
      ['signer'],
    ),
    unsignedAge: gauge(
      'rollcall_csr_unsigned_age_seconds',
      'How long ago the oldest of the approved requests without a certificate was approved.',
      ['signer'],
    ),
    rejected: gauge(
      'rollcall_csr_rejected_recently',
      'Requests that were denied or failed within the last 15 minutes, whoever did it.',
      ['signer', 'condition', 'reason'],
    ),
    most: gauge(
      'rollcall_csr_most_of_one_subject',
      'Requests within the last hour of the node (or other subject) that made most of them.',
      ['signer'],
    ),
  }
}

function fillRequests(
  gauges: ReturnType<typeof registerRequestGauges>,
  signer: string,
  numbers: SignerNumbers,
): void {
  for (const [age, count] of Object.entries(numbers.waiting)) gauges.waiting.set({ signer, age }, count)
  gauges.wait.set({ signer }, numbers.longestWait)
  gauges.unsigned.set({ signer }, numbers.unsigned)
  gauges.unsignedAge.set({ signer }, numbers.longestUnsigned)
  gauges.most.set({ signer }, numbers.mostOfOneNode)
  for (const { condition, reason, count } of numbers.rejected)
    gauges.rejected.set({ signer, condition, reason }, count)
}

function registerNodeGauges(gauge: MakeGauge) {
  return {
    nodes: gauge('rollcall_nodes', 'Nodes in the API.', []),
    certificates: gauge(
      'rollcall_node_certificates',
      'Nodes by what is known of their newest certificate; unknown: none was issued since this process looks.',
      ['kind', 'state'],
    ),
    expiry: gauge(
      'rollcall_node_certificate_earliest_expiry_timestamp_seconds',
      'When the first of the newest certificates of all nodes ends or ended.',
      ['kind'],
    ),
    skew: gauge(
      'rollcall_node_clock_skew_seconds',
      'The largest distance between a node’s clock, as it stamps its status, and this process’s.',
      [],
    ),
  }
}

function fillNodes(
  gauges: ReturnType<typeof registerNodeGauges>,
  { count, certificates, largestSkew }: NonNullable<SurveyNumbers['nodes']>,
): void {
  gauges.nodes.set(count)
  gauges.skew.set(largestSkew)
  for (const kind of certificateKinds) {
    const { states, earliestExpiry } = certificates[kind]
    for (const [state, number] of Object.entries(states)) gauges.certificates.set({ kind, state }, number)
    if (earliestExpiry !== undefined) gauges.expiry.set({ kind }, earliestExpiry / 1000)
  }
}
