/** The facts of a rotation on the embedded control plane, as they are now. */

import { type CARotationObject, caRotation } from '../../kube/rollcall/ca-rotation.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { ConsumerFacts, Observations, ServerFacts, SinkFacts } from '../../rollover/observations.ts'
import { finalPhases, type Phase, type Plan } from '../../rollover/plan.ts'
import { nodeConsumers } from '../../trust/node-consumers.ts'
import { instanceName } from '../../trust/trust-report.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { apiReport } from './api-lease.ts'
import { authorityFacts } from './authority-facts.ts'
import type { EmbeddedControl } from './embedded-control.ts'
import { leafHolders } from './leaf-holders.ts'
import type { NodeTrials } from './node-trials.ts'
import { certificateRequests } from './pending-requests.ts'
import { type PodPublication, withSeen } from './pod-publication.ts'
import type { ServerTrials } from './server-trials.ts'
import { signedBundles } from './signed-bundles.ts'
import { dialWith } from './sink-dial.ts'
import { sinkFacts, type TrustSink } from './trust-sinks.ts'

/** Id of the embedded API, as server and as consumer. */
export const serverId = 'rollcall-apiserver'

export interface FactParts {
  control: EmbeddedControl
  role: TrustRole
  server: ServerTrials
  nodes: NodeTrials
  pods: PodPublication
  /** CAs whose canary was tried and taken since the signer's pointer moved. */
  canaries: ReadonlySet<number>
}

export async function gatherFacts(
  plan: Plan,
  parts: FactParts,
): Promise<Omit<Observations, 'gatheredAfter'>> {
  const { control, role } = parts
  const { cas, trust, clock, reader } = control
  await control.lease.renew()
  const bundles = signedBundles(role, control)
  const state = trust.role(role)
  const { from, to } = plan
  const authorities = await Promise.all(
    [from, to].map(generation => authorityFacts(role, generation, control)),
  )
  const sinks = control.sinks.filter(sink => sink.role === role)
  const consumers = [...(await serverConsumers(plan, parts)), ...consumersOf(parts)]
  const known = new Map(
    authorities.filter(facts => facts !== undefined).map(facts => [facts.generation, facts]),
  )
  return {
    now: clock.now(),
    clockSkew: 0,
    leader: control.leader(),
    preflight: {
      ...otherRotation(plan, control),
      oldKeyUsable: known.get(from)?.keyUsable === true,
      quorumHealthy: true,
      backupRecent: plan.phase !== 'Preflight' || (await control.backUp(plan.id)),
    },
    authorities: known,
    artefacts: {
      newCa: cas.authority(role, to) !== undefined,
      newByOld: cas.isCrossSigned(role, to, from),
      oldByNew: cas.isCrossSigned(role, from, to),
    },
    bundles: [...bundles.values()],
    sinks: await Promise.all(sinks.map(sink => factsOfSink(sink, bundles, parts))),
    servers: [await serverFacts(plan, parts)],
    signer: { ...state.sign, canaryAccepted: [...parts.canaries] },
    consumers,
    leaves: await leafFacts(consumers, parts),
    health: {
      ...control.health(),
      baselineErrorRate: 0,
      failedInWave: (plan.wave?.members ?? []).filter(({ consumer }) => {
        return consumers.some(({ id, unavailable }) => id === consumer && unavailable)
      }).length,
      oldestPendingRequest: certificateRequests(reader, clock.now()),
    },
  }
}

/** Read back, and where machines take trust in the API from it, dialled with what it holds as a fresh machine would. */
async function factsOfSink(
  sink: TrustSink,
  bundles: ReturnType<typeof signedBundles>,
  { control: { cas, trust }, role, server }: FactParts,
): Promise<SinkFacts> {
  const facts = await sinkFacts(sink, trust.role(role), bundles, cas)
  if (role !== 'apiserver-serving') return facts
  const refused = await dialWith(await sink.read(), [server])
  return { ...facts, ...(refused !== undefined && { refused }) }
}

function otherRotation({ id, role }: Plan, { reader }: EmbeddedControl): { otherRotation?: string } {
  const other = reader.list<CARotationObject>(caRotation.ref).find(({ metadata, spec, status }) => {
    const phase = status?.phase
    const begun = phase !== undefined && !finalPhases.has(phase as Phase)
    return spec.role === role && metadata.uid !== id && begun && phase !== 'Preflight'
  })
  return other ? { otherRotation: other.metadata.name } : {}
}

async function serverFacts(
  { from, to }: Plan,
  { control, role, server, canaries: _ }: FactParts,
): Promise<ServerFacts> {
  const { trust, instance } = control
  const state = trust.role(role)
  const common = { id: serverId, instance, healthy: true }
  if (role === 'apiserver-serving') {
    const presents = { ...state.present, since: trust.presentsSince }
    return { ...common, presents, probes: await server.probes(from, to) }
  }
  const accepts = signedBundles(role, control).get(state.judgesBy)?.anchors ?? [1]
  const refused = accepts.includes(from) ? [] : (await server.refuses(from)) ? [from] : []
  return { ...common, judgesBy: state.judgesBy, accepts, refused }
}

/** The API verifies clients and kubelets; what it takes, it is tried with. */
async function serverConsumers(
  { from, to }: Plan,
  { control, role, server }: FactParts,
): Promise<ConsumerFacts[]> {
  if (role === 'apiserver-serving') return []
  const { cas, clock, instance, reader } = control
  const there = [from, to].filter(generation => cas.authority(role, generation))
  const tried = await Promise.all(there.map(async one => ((await server.accepts(one)) ? [one] : [])))
  const at = clock.now()
  const facts = {
    id: serverId,
    kind: 'APIServer',
    roles: [role],
    instance,
    lastSeen: at,
    orderable: false,
    reloads: true,
  } as const
  const report = apiReport(reader, role)
  const known = report && signedBundles(role, control).get(report.generation)?.digest === report.digest
  if (!report || !known) return [facts]
  const { generation } = report
  const reporter = instanceName(report.instance)
  return [{ ...facts, proof: { level: 3, generation, instance: reporter, at, authorities: tried.flat() } }]
}

/** Who verifies certificates of the role, but for the API itself. */
export function consumersOf({ control, role, nodes, pods }: FactParts): ConsumerFacts[] {
  const bundles = signedBundles(role, control)
  const digests = new Map([...bundles].map(([generation, { digest }]) => [generation, digest]))
  const onNodes = nodes.facts(role).flatMap(node => nodeConsumers(node, role, digests))
  // Nodes present serving certificates, and judge nobody by theirs.
  if (role === 'kubelet-serving') return onNodes.map(consumer => ({ ...consumer, roles: [] }))
  if (role === 'client') return onNodes
  const { bundle: generation } = control.trust.role(role)
  const published = { generation, pem: bundles.get(generation)?.pem ?? '' }
  const mounting = pods.consumers(control.reader, published, control.clock.now())
  return [...onNodes, ...withSeen(mounting, strangers(control))]
}

/** Who came without an agent of ours. Its proof is of the CA alone: which bundle it has, nobody can see. */
function strangers({ trust }: EmbeddedControl): ConsumerFacts[] {
  const { bundle: generation } = trust.role('apiserver-serving')
  return [...trust.seen.strangers.values()].map(({ id, kind, lastSeen, handshakes, lastFailure }) => ({
    id,
    kind,
    roles: ['apiserver-serving'],
    instance: id,
    lastSeen,
    orderable: false,
    reloads: false,
    ...(lastFailure !== undefined && { lastFailure }),
    ...(handshakes.size > 0 && {
      proof: {
        level: 3 as const,
        generation,
        instance: id,
        at: Math.max(...handshakes.values()),
        authorities: [...handshakes.keys()],
        unproven: 0 as const,
      },
    }),
  }))
}

async function leafFacts(
  consumers: readonly ConsumerFacts[],
  parts: FactParts,
): Promise<Observations['leaves']> {
  const { control, role, nodes } = parts
  const { trust, cas } = control
  const { seen } = trust
  if (role === 'apiserver-serving') return { holders: new Map(), ledgerComplete: true, lastUsed: seen.served }
  const kubelets = new Map(
    consumers.flatMap(one => (one.kind === 'Kubelet' && one.node ? [[one.node, one]] : [])),
  )
  const inUse = new Map<string, number>()
  for (const node of kubelets.keys()) {
    const used = role === 'client' ? newestUse(seen.clientUse, `kubelet/${node}`) : await nodes.shows(node)
    if (used !== undefined) inUse.set(node, used)
  }
  const own = Object.entries(control.own[role] ?? {}).flatMap(([name, leaf]) => {
    const issuer = leaf.issuer()
    return issuer === undefined ? [] : [[name, issuer] as const]
  })
  const fingerprints = new Map(
    cas
      .generations(role)
      .map(one => [sha256Hex(cas.authority(role, one)?.certificate.raw ?? new Uint8Array()), one]),
  )
  const leaves = await control.leaves()
  const holders = leafHolders(leaves, {
    role,
    foreign: role === 'client' ? await control.foreign.beside(leaves) : [],
    generationOf: fingerprint => fingerprints.get(fingerprint),
    inUse: node => inUse.get(node),
    orderable: node => kubelets.get(node)?.orderable === true,
    exists: node => kubelets.has(node),
    own: new Map(own),
    ownEnd: control.clock.now() + 365 * 86_400_000,
  })
  return {
    holders,
    ledgerComplete: control.ledgerComplete(),
    lastUsed: role === 'client' ? seen.clientUse : new Map(),
  }
}

/** The CA of whose certificates this holder has used one last. */
function newestUse(
  uses: ReadonlyMap<number, ReadonlyMap<string, number>>,
  holder: string,
): number | undefined {
  const times = [...uses].flatMap(([authority, used]) => {
    const at = used.get(holder)
    return at === undefined ? [] : [{ authority, at }]
  })
  return times.sort((one, other) => other.at - one.at)[0]?.authority
}
