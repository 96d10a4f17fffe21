/** The facts of a rotation on a cluster of kubeadm, as they are now. */
import { type CARotationObject, caRotation } from '../../kube/rollcall/ca-rotation.ts'
import { type KubeNode, type Lease, resources } from '../../kube/types.ts'
import { desiredIn } from '../../rollover/desired.ts'
import type {
  LeafFacts,
  LeafHolder,
  Observations,
  ServerFacts,
  SinkFacts,
  StuckOrder,
} from '../../rollover/observations.ts'
import { finalPhases, type Phase, type Plan } from '../../rollover/plan.ts'
import {
  type ControlPlaneReport,
  type ControlPlaneRole,
  controlPlaneReportAnnotation,
  decodeControlPlaneReport,
} from '../../trust/control-plane-report.ts'
import { decodeTrustReport, trustReportAnnotation } from '../../trust/trust-report.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import type { Snapshot } from '../generic/snapshot.ts'
import { authorityFacts } from '../rollover/authority-facts.ts'
import { leafHolders } from '../rollover/leaf-holders.ts'
import { certificateRequests } from '../rollover/pending-requests.ts'
import { type KnownBundle, signedBundles } from '../rollover/signed-bundles.ts'
import { sinkFacts, type TrustSink } from '../rollover/trust-sinks.ts'
import type { ApiServerTrials } from './api-server-trials.ts'
import { consumersOf, controllerId, isOfAgent } from './kubeadm-consumers.ts'
import { generationIn, type KubeadmControl } from './kubeadm-control.ts'
import type { KubeletDials } from './kubelet-dials.ts'
import { type RoleTargets, type Targets, undoneBy } from './node-targets.ts'

export interface FactParts {
  control: KubeadmControl
  role: ControlPlaneRole
  targets: Targets
  snapshot: Snapshot
  trials: ApiServerTrials
  kubelets: Pick<KubeletDials, 'accepted'>
  sinks: readonly TrustSink[]
}

export type Facts = Omit<Observations, 'gatheredAfter'>
export type Bundles = ReadonlyMap<number, KnownBundle>

/** Milliseconds: a node whose Lease is older says nothing. */
const live = 40_000

export async function gatherFacts(plan: Plan, parts: FactParts): Promise<Facts> {
  const { control, role, snapshot, targets } = parts
  const { cas, clock, nodes } = control
  const { from, to } = plan
  const bundles = bundlesOf(parts)
  const both = await Promise.all([from, to].map(one => authorityFacts(role, one, control)))
  const authorities = new Map(both.flatMap(facts => (facts ? [[facts.generation, facts] as const] : [])))
  const servers = await Promise.all(nodes.map(name => serverFacts(name, plan, bundles, parts)))
  const consumers = await consumersOf(plan, bundles, servers, parts)
  const now = clock.now()
  return {
    now,
    clockSkew: 0,
    leader: await control.leader(),
    preflight: {
      ...otherRotation(plan, snapshot),
      oldKeyUsable: authorities.get(from)?.keyUsable === true,
      quorumHealthy: servers.every(({ healthy }) => healthy),
      // etcd is not ours: its backup is the operator's, before he begins.
      backupRecent: true,
    },
    authorities,
    artefacts: {
      newCa: cas.authority(role, to) !== undefined,
      newByOld: cas.isCrossSigned(role, to, from),
      oldByNew: cas.isCrossSigned(role, from, to),
    },
    bundles: [...bundles.values()],
    sinks: [
      ...(await Promise.all(parts.sinks.map(sink => sinkFacts(sink, stateOf(targets[role]), bundles, cas)))),
      ...(role === 'apiserver-serving' ? nodes.map(name => nodeSink(name, bundles, parts)) : []),
    ],
    servers,
    signer: signerFacts(plan, servers, parts),
    consumers,
    leaves: await leafFacts(plan, parts),
    health: {
      errorRate: 0,
      baselineErrorRate: 0,
      failedInWave: (plan.wave?.members ?? []).filter(({ consumer }) =>
        consumers.some(({ id, unavailable }) => id === consumer && unavailable),
      ).length,
      oldestPendingRequest: certificateRequests(snapshot, now),
    },
    stuck: [...unmanaged(plan), ...nodes.flatMap(name => undoneOn(name, parts))],
  }
}

export function bundlesOf({
  control,
  role,
  snapshot,
}: Pick<FactParts, 'control' | 'role' | 'snapshot'>): Map<number, KnownBundle> {
  return signedBundles(role, { ...control, reader: snapshot })
}

/** What the node says of its control plane; undefined: nothing readable, or too long ago. */
export function reportOf(
  name: string,
  { snapshot, control }: Pick<FactParts, 'snapshot' | 'control'>,
): ControlPlaneReport | undefined {
  const lease = snapshot.get<Lease>(resources.leases, name, 'kube-node-lease')
  const renewed = Date.parse(lease?.spec?.renewTime ?? '') || 0
  if (control.clock.now() - renewed >= live) return undefined
  return decodeControlPlaneReport(lease?.metadata.annotations?.[controlPlaneReportAnnotation])
}

/** Where a node's kube-apiserver answers; undefined: the Node has no address. */
export function serverOf(name: string, { snapshot, control }: Pick<FactParts, 'snapshot' | 'control'>) {
  const node = snapshot.get<KubeNode>(resources.nodes, name)
  const address = node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
  if (address === undefined) return undefined
  return `https://${address.includes(':') ? `[${address}]` : address}:${control.port}`
}

export function nodeSinkId(name: string): string {
  return `control-plane/${name}`
}

function stateOf({ sinks, bundle }: RoleTargets) {
  return { sinks, bundle }
}

function undoneOn(name: string, parts: FactParts): StuckOrder[] {
  const why = undoneBy(name, parts.role, parts.targets, reportOf(name, parts))
  return why === undefined ? [] : [{ about: nodeSinkId(name), message: `was undone: ${why}` }]
}

/** 3.8 begins with a CA that signs nothing, and cuts off whoever holds a certificate of it: agents here among them. */
function unmanaged({ reason }: Plan): StuckOrder[] {
  const message = 'is not carried out on kubeadm: stop the signers by hand, and distrust the CA node by node'
  return reason === 'Compromise' ? [{ about: 'emergency', message }] : []
}

/** What of the node's control plane asks the API server: kubeconfigs, root CA file, and the processes that read them. */
function nodeSink(name: string, bundles: Bundles, parts: FactParts): SinkFacts {
  const report = reportOf(name, parts)
  const said = report?.roles['apiserver-serving']
  const inForce = said && report.healthy ? said.trust : 0
  const generation = said ? inForce : report?.healthy ? 1 : 0
  const anchors = bundles.get(generation)?.anchors ?? []
  return { id: nodeSinkId(name), seed: false, generation: anchors.length === 0 ? 0 : generation, anchors }
}

async function serverFacts(
  name: string,
  { from, to }: Plan,
  bundles: Bundles,
  parts: FactParts,
): Promise<ServerFacts> {
  const { role, control, trials } = parts
  const { cas } = control
  const report = reportOf(name, parts)
  const server = serverOf(name, parts)
  const common = { id: name, instance: report?.instances['kube-apiserver'] ?? 'unknown' }
  const healthy = report?.healthy === true && server !== undefined
  if (role === 'apiserver-serving') {
    const said = report?.roles['apiserver-serving']?.present
    const presents = said
      ? { authority: generationIn(cas, role, said.authority) ?? 0, mode: said.mode, since: said.since }
      : { authority: 1, mode: 'old' as const, since: 0 }
    const probes = server === undefined ? undefined : await trials.probes(server, from, to)
    return { ...common, healthy, presents, ...(probes && { probes }) }
  }
  const there = [from, to].filter(one => cas.authority(role, one))
  const tried = new Map<number, string>()
  for (const one of there)
    tried.set(one, server === undefined ? 'nothing' : await trials.answers(server, one))
  const accepts = there.filter(one => tried.get(one) === 'accepts')
  const judgesBy = report?.roles.client?.trust || 1
  const given = bundles.get(judgesBy)?.anchors ?? []
  // Told by the node, and read back by handshakes: both count.
  const inForce = there.every(one => given.includes(one) === accepts.includes(one))
  const refused = tried.get(from) === 'refuses' ? [from] : []
  return { ...common, healthy, judgesBy: inForce ? judgesBy : 0, accepts, refused }
}

/** One that no node signs with any more is gone; as long as one is behind what the phase wants, so are all. */
function signerFacts(plan: Plan, servers: readonly ServerFacts[], parts: FactParts): Observations['signer'] {
  const { role, control } = parts
  const { cas, nodes } = control
  const { from, to } = plan
  if (role === 'apiserver-serving') {
    const presented = servers.map(({ presents }) => presents?.authority)
    const authority = presented.every(one => one === to) ? to : from
    const mode = authority === to ? (servers[0]?.presents?.mode ?? 'bare') : 'old'
    // Leaves of API servers are made on their nodes: what signs them is what they present.
    return { authority, mode, canaryAccepted: [authority] }
  }
  const signing = nodes.map(name => {
    const report = reportOf(name, parts)
    const id = report?.roles.client?.sign
    return id === undefined ? 1 : (generationIn(cas, role, id) ?? 1)
  })
  const wanted = desiredIn(plan).signer?.authority
  const authority = signing.find(one => one !== wanted) ?? wanted ?? from
  const canaryAccepted = [from, to].filter(one => servers.every(({ accepts = [] }) => accepts.includes(one)))
  return { authority, mode: authority === to ? 'bare' : 'old', canaryAccepted }
}

async function leafFacts(plan: Plan, parts: FactParts): Promise<LeafFacts> {
  const { role, control } = parts
  const { cas, nodes, clock } = control
  if (role === 'apiserver-serving') return { holders: new Map(), ledgerComplete: true, lastUsed: new Map() }
  const fingerprints = new Map(
    cas
      .generations(role)
      .map(one => [sha256Hex(cas.authority(role, one)?.certificate.raw ?? new Uint8Array()), one]),
  )
  const own = nodes.map(name => {
    const id = reportOf(name, parts)?.roles.client?.own
    return [nodeSinkId(name), id === undefined ? 1 : (generationIn(cas, role, id) ?? 1)] as const
  })
  const holders = leafHolders(await control.leaves(), {
    role,
    generationOf: fingerprint => fingerprints.get(fingerprint),
    foreign: [],
    // What nodes hold they say themselves.
    inUse: () => undefined,
    orderable: () => false,
    exists: () => false,
    own: new Map(own),
    ownEnd: clock.now() + 365 * 86_400_000,
  })
  for (const [authority, holder] of [...kubeletHolders(plan, parts), ...ownHolders(parts)])
    holders.set(authority, [...(holders.get(authority) ?? []), holder])
  return { holders, ledgerComplete: isVouchedFor(plan), lastUsed: new Map() }
}

/**
 * Nodes tell by their agents which CA their client certificate is of. One that says nothing holds the old one as long as it
 * lives: nobody can know otherwise.
 */
function kubeletHolders({ from }: Plan, { control, snapshot }: FactParts): [number, LeafHolder][] {
  const ends = control.cas.authority('client', from)?.certificate.notAfter ?? 0
  return snapshot
    .list<KubeNode>(resources.nodes)
    .flatMap(({ metadata: { name } }): [number, LeafHolder][] => {
      const lease = snapshot.get<Lease>(resources.leases, name, 'kube-node-lease')
      const report = decodeTrustReport(lease?.metadata.annotations?.[trustReportAnnotation])
      const held = report?.find(isOfAgent('client'))?.holds
      const authority = held === undefined ? from : generationIn(control.cas, 'client', held)
      if (authority === undefined) return []
      return [[authority, { holder: `kubelet/${name}`, notAfter: ends, renewable: report !== undefined }]]
    })
}

/** What this controller shows itself: the agent of its node, or the operator, has to write its kubeconfig anew. */
function ownHolders({ control }: FactParts): [number, LeafHolder][] {
  const [leaf] = parseCertificatesPem(control.connection.presents() ?? '')
  const authority = leaf && control.cas.issuerOf('client', leaf)
  if (!leaf || authority === undefined) return []
  return [[authority, { holder: controllerId, notAfter: leaf.notAfter, renewable: false }]]
}

/** kube-controller-manager keeps no ledger: that nothing else is alive, a human says who is not the author. */
function isVouchedFor({ wishes, author }: Plan): boolean {
  return wishes.acknowledgements.some(({ consumer, by }) => consumer === 'ledger' && by !== author)
}

function otherRotation({ id, role }: Plan, snapshot: Snapshot): { otherRotation?: string } {
  const other = snapshot.list<CARotationObject>(caRotation.ref).find(({ metadata, spec, status }) => {
    const phase = status?.phase
    const begun = phase !== undefined && !finalPhases.has(phase as Phase) && phase !== 'Preflight'
    return spec.role === role && metadata.uid !== id && begun
  })
  return other ? { otherRotation: other.metadata.name } : {}
}
