/** The two consumers of a node, its agent and its kubelet, from what the node reports and what servers saw of it. */
import type { TrustRole } from '../kube/rollcall/trust-bundle.ts'
import { kubeletKeyTypes } from '../kube/rollcall/trust-consumer.ts'
import type { ConsumerFacts, ProofFacts } from '../rollover/observations.ts'
import { instanceName, provenLevel, type ReportedTrust } from './trust-report.ts'

export interface NodeTrustFacts {
  name: string
  zone?: string
  /** When its Lease was renewed last, in milliseconds since the epoch. */
  renewed: number
  gone?: true
  /** Of the boot that the Node's status tells of: what another boot reported counts no longer. */
  bootID?: string
  /** Not Ready. */
  unavailable?: boolean
  /** What its Lease says; absent: no agent of ours is there, or it says nothing readable. */
  report?: readonly ReportedTrust[]
  /**
   * Authenticated requests of the node's identity after a handshake with the bare chain of a CA, without resumption. They
   * prove the agent, which is asked to make them, not the kubelet beside it.
   */
  handshakes: readonly { authority: number; at: number }[]
  /** The last time a probe of the agent failed for want of trust. */
  refused?: number
}

/** Digests of the bundles that exist, by generation. */
export type BundleDigests = ReadonlyMap<number, string>

/** Ids are `agent/NAME` and `kubelet/NAME`; the ledger's holders of a node's certificates carry the kubelet's. */
export function nodeConsumers(
  node: NodeTrustFacts,
  role: TrustRole,
  digests: BundleDigests,
): ConsumerFacts[] {
  const reports = node.report?.filter(report => report.role === role) ?? []
  const agent = reports.find(({ subject }) => subject === 'agent')
  const kubelet = reports.find(({ subject }) => subject === 'kubelet')
  const common = {
    roles: [role],
    lastSeen: node.renewed,
    node: node.name,
    orderable: node.report !== undefined,
    ...(node.zone === undefined ? {} : { zone: node.zone }),
    ...(node.gone ? { gone: node.gone } : {}),
    ...(node.unavailable === undefined ? {} : { unavailable: node.unavailable }),
  }
  const onDisk = agent?.generation ?? 0
  const kubeletFacts: ConsumerFacts = {
    ...common,
    id: `kubelet/${node.name}`,
    kind: 'Kubelet',
    algorithms: kubeletKeyTypes,
    // K: a kubelet reads the CA of its API client once; it re-reads the CA that it judges clients by. Where the agent is
    // the kubelet, what is in its memory is in force.
    reloads: role === 'client' || (kubelet !== undefined && kubelet.evidence !== 'newer-process'),
    ...withReport(kubelet, digests, node.bootID),
    onDisk,
  }
  if (agent === undefined) return [kubeletFacts]
  return [kubeletFacts, agentFacts(node, agent, digests, { ...common, onDisk })]
}

function agentFacts(
  { name, handshakes, refused, bootID }: NodeTrustFacts,
  report: ReportedTrust,
  digests: BundleDigests,
  common: Pick<ConsumerFacts, 'roles' | 'lastSeen' | 'orderable' | 'onDisk'>,
): ConsumerFacts {
  const reported = withReport(report, digests, bootID)
  const made = handshakes.filter(({ at }) => at >= report.loadedAt)
  const authorities = [...new Set(made.map(({ authority }) => authority))]
  const refuses = report.refused ? { refuses: report.refused } : {}
  const proof: ProofFacts | undefined =
    reported.proof && authorities.length > 0
      ? { ...reported.proof, ...refuses, level: 3, authorities, at: Math.max(...made.map(({ at }) => at)) }
      : reported.proof
  return {
    ...common,
    id: `agent/${name}`,
    kind: 'Agent',
    reloads: true,
    instance: reported.instance,
    ...(proof ? { proof } : {}),
    ...(refused === undefined ? {} : { lastFailure: refused }),
  }
}

/** A report proves what its digest says, when a bundle of that generation and digest exists; else nothing. */
function withReport(
  report: ReportedTrust | undefined,
  digests: BundleDigests,
  bootID: string | undefined,
): { instance: string; proof?: ProofFacts } {
  if (report === undefined) return { instance: 'unknown' }
  const { generation, loadedAt, seenAt = loadedAt } = report
  const instance = instanceName(report.instance)
  const rebooted = bootID !== undefined && bootID !== report.instance.bootID
  const level = provenLevel(report, { generation, digest: digests.get(generation) ?? '' })
  return {
    instance: rebooted ? `${bootID}/unknown` : instance,
    proof: { level, generation, instance, at: seenAt },
  }
}
