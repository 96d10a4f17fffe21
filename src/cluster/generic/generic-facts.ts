/** The facts of a rotation on a cluster that is not ours, as they are after the call. */
import { type CARotationObject, caRotation } from '../../kube/rollcall/ca-rotation.ts'
import { resources, type Secret } from '../../kube/types.ts'
import type { Observations, ServerFacts, SinkFacts } from '../../rollover/observations.ts'
import { finalPhases, type Phase, type Plan } from '../../rollover/plan.ts'
import { serviceAccountTokenType } from '../../trust/token-secrets.ts'
import { authorityFacts } from '../rollover/authority-facts.ts'
import type { CaStore } from '../rollover/ca-store.ts'
import { certificateRequests } from '../rollover/pending-requests.ts'
import { type KnownBundle, signedBundles } from '../rollover/signed-bundles.ts'
import { dialWith } from '../rollover/sink-dial.ts'
import { sinkFacts, type TrustSink } from '../rollover/trust-sinks.ts'
import { consumersOf } from './generic-consumers.ts'
import type { GenericControl, Servers } from './generic-control.ts'
import { leafFacts } from './generic-leaves.ts'
import type { GenericState } from './generic-state.ts'
import type { NodeDials } from './node-dials.ts'
import type { OtherSigner } from './other-signer.ts'
import type { ManagedRole } from './rollover-file.ts'
import type { Snapshot } from './snapshot.ts'

export interface FactParts {
  control: GenericControl
  role: ManagedRole
  cas: CaStore
  state: GenericState
  snapshot: Snapshot
  servers: Servers
  nodes: NodeDials
  sinks: readonly TrustSink[]
  /** Who signs client certificates, where it is not this controller. */
  signer: OtherSigner | undefined
  /** Hooks that wait for a human, by what they are about. */
  awaited: ReadonlyMap<string, string>
}

export type Facts = Omit<Observations, 'gatheredAfter'>

export async function gatherFacts(
  plan: Plan,
  leader: Observations['leader'],
  parts: FactParts,
): Promise<Facts> {
  const { control, role, cas, state, snapshot } = parts
  const { from, to } = plan
  const bundles = bundlesOf(parts)
  const both = await Promise.all(
    [from, to].map(one => authorityFacts(role, one, { cas, clock: control.clock })),
  )
  const authorities = new Map(both.flatMap(facts => (facts ? [[facts.generation, facts] as const] : [])))
  const servers = await Promise.all(
    [...parts.servers.keys()].map(name => serverFacts(name, plan, bundles, parts)),
  )
  const consumers = await consumersOf(plan, bundles, servers, parts)
  const now = control.clock.now()
  return {
    now,
    clockSkew: control.connection.clockSkew(),
    leader,
    preflight: {
      ...otherRotation(plan, snapshot),
      oldKeyUsable: authorities.get(from)?.keyUsable === true,
      quorumHealthy: servers.every(({ healthy }) => healthy),
      // Storage is not ours: its backup is the operator's, before he begins.
      backupRecent: true,
    },
    authorities,
    artefacts: {
      newCa: cas.authority(role, to) !== undefined,
      newByOld: cas.isCrossSigned(role, to, from),
      oldByNew: cas.isCrossSigned(role, from, to),
    },
    bundles: [...bundles.values()],
    sinks: await Promise.all(parts.sinks.map(sink => factsOfSink(sink, plan, bundles, parts))),
    servers,
    signer: await signerFacts(plan, servers, parts),
    consumers,
    leaves: await leafFacts(plan, parts),
    health: {
      errorRate: 0,
      baselineErrorRate: 0,
      failedInWave: (plan.wave?.members ?? []).filter(({ consumer }) => {
        return consumers.some(({ id, unavailable }) => id === consumer && unavailable)
      }).length,
      oldestPendingRequest: certificateRequests(snapshot, now),
    },
    stuck: stuckNow(plan, state),
    awaited: [...parts.awaited].map(([about, message]) => ({ about, message })),
  }
}

export function bundlesOf({ control, role, cas, snapshot }: FactParts): Map<number, KnownBundle> {
  return signedBundles(role, { reader: snapshot, roots: control.roots, cas })
}

/** What failed at this step, or made it pause; after a `resume` it is tried again. */
function stuckNow({ sequence, paused }: Plan, { failed }: GenericState) {
  const since = paused ? paused.sequence - 1 : sequence
  return failed.filter(one => one.sequence >= since).map(({ about, message }) => ({ about, message }))
}

function otherRotation({ id, role }: Plan, snapshot: Snapshot): { otherRotation?: string } {
  const other = snapshot.list<CARotationObject>(caRotation.ref).find(({ metadata, spec, status }) => {
    const phase = status?.phase
    const begun = phase !== undefined && !finalPhases.has(phase as Phase) && phase !== 'Preflight'
    return spec.role === role && metadata.uid !== id && begun
  })
  return other ? { otherRotation: other.metadata.name } : {}
}

async function serverFacts(
  name: string,
  { from, to }: Plan,
  bundles: ReadonlyMap<number, KnownBundle>,
  { role, servers, state, cas }: FactParts,
): Promise<ServerFacts> {
  const server = servers.get(name)
  const common = { id: name, instance: name }
  if (!server) return { ...common, healthy: false }
  const healthy = await server.isHealthy()
  if (role === 'apiserver-serving') {
    const presents = await server.presented()
    // One that shows nothing of ours counts as presenting nothing that is wanted, not as being no server.
    const shown = presents ?? { authority: 0, mode: 'old' as const, since: 0 }
    const { authority, since } = shown
    const mode = authority === to ? shown.mode : 'old'
    return { ...common, healthy, presents: { authority, mode, since }, probes: await server.probes(from, to) }
  }
  const there = [from, to].filter(generation => cas.authority(role, generation))
  const tried = await Promise.all(there.map(async one => ({ one, accepted: await server.accepts(one) })))
  const accepts = tried.flatMap(({ one, accepted }) => (accepted ? [one] : []))
  const given = bundles.get(state.judgesBy[name] ?? 0)
  // Read back by handshakes: it judges by the bundle when it lets in exactly those that the bundle has.
  const inForce =
    given !== undefined && tried.every(({ one, accepted }) => given.anchors.includes(one) === accepted)
  const refused = accepts.includes(from) || !(await server.refuses(from)) ? [] : [from]
  return { ...common, healthy, judgesBy: inForce ? given.generation : 0, accepts, refused }
}

/** As it signs here; as somebody else was seen to sign. Nothing is tried before a rotation has begun to distribute. */
async function signerFacts(
  { from, to, bundle, reason }: Plan,
  servers: readonly ServerFacts[],
  parts: FactParts,
): Promise<Observations['signer']> {
  const { signer, state } = parts
  const accepted = await canaryAccepted([from, to], servers, parts)
  if (!signer || (bundle === undefined && reason !== 'Compromise'))
    return { ...state.sign, canaryAccepted: accepted }
  const authority = await signer.signs()
  const { mode } = state.sign
  return { mode, ...(authority !== undefined && { authority }), canaryAccepted: accepted }
}

/** With a CA that every server lets in, and for servers' own chains, one whose leaf is verified here. */
async function canaryAccepted(
  generations: readonly number[],
  servers: readonly ServerFacts[],
  { role, servers: trials, cas }: FactParts,
): Promise<number[]> {
  if (role === 'client')
    return generations.filter(one => servers.every(({ accepts = [] }) => accepts.includes(one)))
  const [first] = trials.values()
  const verified = await Promise.all(
    generations.map(async one => (cas.authority(role, one) && (await first?.canary(one)) ? [one] : [])),
  )
  return verified.flat()
}

async function factsOfSink(
  sink: TrustSink,
  plan: Plan,
  bundles: ReadonlyMap<number, KnownBundle>,
  parts: FactParts,
): Promise<SinkFacts> {
  const { state, cas, servers } = parts
  const problem = await sink.read().then(
    () => undefined,
    error => (error instanceof Error ? error.message : String(error)),
  )
  if (problem !== undefined) {
    const { id, seed } = sink
    return { id, seed, generation: 0, anchors: [], waitsFor: `what is there to be read: ${problem}` }
  }
  const facts = await sinkFacts(sink, state, bundles, cas)
  const waitsFor = restartMissing(sink.id, facts.generation, plan, parts)
  const refused =
    sink.role === 'apiserver-serving' ? await dialWith(await sink.read(), servers.values()) : undefined
  return {
    ...facts,
    ...(waitsFor !== undefined && { generation: 0, waitsFor }),
    ...(refused !== undefined && { refused }),
  }
}

/** A file that is read once counts when its reader was started after it was written: by the hook, or by a human who says so. */
function restartMissing(
  id: string,
  generation: number,
  plan: Plan,
  { control, state }: FactParts,
): string | undefined {
  const entry = control.file.sinks.find(({ name }) => name === id)
  if (!entry || !('restart' in entry) || entry.restart === undefined) return undefined
  const started = state.restarted[id] ?? 1
  if (generation <= started) return undefined
  if (entry.restart !== 'wait') return `the restart of what reads it (hook restart of ${id})`
  const writtenAt = state.writtenAt[id] ?? Number.POSITIVE_INFINITY
  const said = plan.wishes.acknowledgements.some(
    ({ consumer, by, at }) => consumer === `restart/${id}` && by !== plan.author && at >= writtenAt - 1000,
  )
  return said ? undefined : `the restart of what reads it, then: rollcall ca ack ROTATION restart/${id}`
}

/** Names (NAMESPACE/NAME) of Secrets with a service account's token. */
export function tokenSecretsIn(snapshot: Snapshot): Set<string> {
  const secrets = snapshot.list<Secret>(resources.secrets)
  return new Set(
    secrets
      .filter(({ type }) => type === serviceAccountTokenType)
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
  )
}
