/** A small cluster as the model check sees it: what is true, beside what an orchestrator observes of it. */

import type { RotationPolicySpec, RotationReason } from '../../kube/rollcall/ca-rotation.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { ConsumerKind } from '../../kube/rollcall/trust-consumer.ts'
import type { BundleFacts, ProofFacts } from '../observations.ts'
import { newPlan, noWishes, type Plan, type Wishes } from '../plan.ts'
import { policyOf } from '../policy.ts'
import { type AuthorityPool, type Chain, poolTime } from './authority-pool.ts'

export const day = 86_400_000

export interface Fence {
  token: number
  sequence: number
}

export interface Sink {
  id: string
  seed: boolean
  generation: number
  /** What was there before it. */
  before: number
  /** A machine image takes its time: since when the next one is being made. */
  making?: { generation: number; since: number }
  fence: Fence
}

export interface Server {
  id: string
  instance: number
  healthy: boolean
  presents?: Chain & { since: number }
  /** Generation of the bundle in memory. */
  judgesBy?: number
  refused: Set<number>
  fence: Fence
}

export interface Leaf extends Chain {
  notAfter: number
  issuerNotAfter: number
}

export interface Member {
  id: string
  kind: ConsumerKind
  /** Verifies certificates of the role. */
  verifies: boolean
  instance: number
  online: boolean
  gone: boolean
  lastSeen: number
  reloads: boolean
  orderable: boolean
  disk: number
  loaded: number
  proof?: ProofFacts
  /** Its certificate of the role, where it presents one. */
  leaf?: Leaf
  renewable: boolean
  /** Being restarted by our order. */
  restarting: boolean
  fence: Fence
}

/** What a simulation with real keys adds to the model, which knows certificates by their CA alone. */
export interface Hooks {
  /** Somebody is given a certificate by the CA that signs now. */
  issued(member: Member, leaf: Leaf): void
  /** Whether a consumer takes this bundle over what it holds. */
  takes(member: Member, generation: number): boolean
  /** The trust roots are to meet. */
  ceremony(): void
}

export interface World {
  pool: AuthorityPool
  role: TrustRole
  hooks?: Hooks
  /** When a CA ends, in milliseconds since the epoch. */
  ends(authority: number): number
  now: number
  /** How far the orchestrators' clock is ahead. */
  clockError: number
  /** By generation, none left out between the first and the last. */
  bundles: BundleFacts[]
  sinks: Sink[]
  servers: Server[]
  members: Member[]
  /** The same by id. */
  byId: Map<string, Member>
  signer: { authority: number | undefined; mode: Chain['mode']; canary: Set<number>; fence: Fence }
  /** Keys that exist. */
  keys: Set<number>
  crossSigned: Set<string>
  store: { plan: Plan; version: number }
  lease: { holder: number; token: number }
  wishes: Wishes
  joiners: number
  /** What broke, first one first. */
  violations: string[]
}

export interface WorldOptions {
  pool: AuthorityPool
  role: TrustRole
  reason?: RotationReason
  policy?: RotationPolicySpec
  nodes?: number
  /** Whether the CA that comes is trusted in advance. */
  standby?: boolean
  /** How long the old CA lives still, in milliseconds; absent: years. */
  oldEnds?: number
  ends?: World['ends']
  hooks?: Hooks
  /** Bundles that are signed already; absent: one with the old CA, and what a ceremony adds. */
  bundles?: BundleFacts[]
  /** Whether there are others than nodes. */
  outsiders?: boolean
}

const fresh = (): Fence => ({ token: 0, sequence: 0 })

export function newWorld({
  pool,
  role,
  reason = 'Scheduled',
  policy,
  nodes = 3,
  standby = false,
  oldEnds = 3650 * day,
  ends = authority => poolTime + oldEnds + (authority - 1) * 3650 * day,
  hooks,
  bundles,
  outsiders = true,
}: WorldOptions): World {
  const steady = standby ? [1, 2] : [1]
  const now = poolTime
  const plan = newPlan({
    id: 'rotation-1',
    role,
    reason,
    author: 'anna',
    from: 1,
    to: 2,
    policy: policyOf(policy),
    wishes: noWishes,
    now,
  })
  const world: World = {
    pool,
    role,
    ...(hooks && { hooks }),
    ends,
    now,
    clockError: 0,
    bundles: bundles ?? [bundleOf(1, steady)],
    sinks: ['configmap', 'kubeconfigs', 'cluster-info', 'image'].map((id, index) => {
      return { id, seed: index >= 2, generation: 1, before: 1, fence: fresh() }
    }),
    servers: ['api-1', 'api-2'].map(id => serverOf(id, role, now)),
    members: [],
    byId: new Map(),
    signer: { authority: 1, mode: 'old', canary: new Set([1]), fence: fresh() },
    keys: new Set(standby || reason === 'Compromise' ? [1, 2] : [1]),
    crossSigned: new Set(),
    store: { plan, version: 1 },
    lease: { holder: 0, token: 1 },
    wishes: noWishes,
    joiners: 0,
    violations: [],
  }
  if (bundles === undefined) holdCeremony(world)
  for (let index = 1; index <= nodes; index += 1) addNode(world, `node-${index}`)
  if (!outsiders) return world
  if (role === 'apiserver-serving') {
    addMember(world, { id: 'agent-1', kind: 'Agent', reloads: true, orderable: true })
    addMember(world, { id: 'pod-1', kind: 'Pod', reloads: false, orderable: false })
    addMember(world, { id: 'laptop', kind: 'External', reloads: false, orderable: false })
  } else if (role === 'client')
    addMember(world, { id: 'admin', kind: 'External', verifies: false, renewable: false })
  else addMember(world, { id: 'prometheus', kind: 'Monitoring', reloads: true, orderable: false })
  return world
}

function bundleOf(generation: number, anchors: readonly number[]): BundleFacts {
  return { generation, digest: `bundle-${generation}`, anchors }
}

/** The trust roots meet and sign what one rollover needs, there and back and there again. */
export function holdCeremony(world: World): void {
  if (world.hooks) {
    world.hooks.ceremony()
    return
  }
  const { from, to } = world.store.plan
  const last = lastGeneration(world)
  const sets = [[from, to], [to], [from, to], [to]]
  world.bundles = [...world.bundles, ...sets.map((anchors, index) => bundleOf(last + 1 + index, anchors))]
}

export function lastGeneration({ bundles }: World): number {
  return bundles.at(-1)?.generation ?? 0
}

/** The rotation after the one that is over: from the CA that it left in charge to the next. */
export function beginNext(world: World, ceremony = holdCeremony): void {
  const { from, to, phase, role, reason, author, policy, sequence } = world.store.plan
  const current = phase === 'Done' ? to : from
  const id = `rotation-${sequence}`
  const asked = { id, role, reason, author, policy, from: current, to: current + 1 }
  world.wishes = noWishes
  const plan = newPlan({ ...asked, wishes: noWishes, after: sequence, now: world.now })
  world.store = { plan, version: world.store.version + 1 }
  ceremony(world)
}

function serverOf(id: string, role: TrustRole, since: number): Server {
  const server: Server = { id, instance: 1, healthy: true, refused: new Set(), fence: fresh() }
  if (role === 'apiserver-serving') server.presents = { authority: 1, mode: 'old', since }
  else server.judgesBy = 1
  return server
}

/** A node: its kubelet verifies the API server, or the API server's client certificate, or presents a serving one. */
export function addNode(world: World, id: string): Member {
  const hot = world.role !== 'apiserver-serving'
  const verifies = world.role !== 'kubelet-serving'
  return addMember(world, { id, kind: 'Kubelet', reloads: hot, orderable: true, verifies })
}

export function addMember(
  world: World,
  { id, kind, ...more }: Partial<Member> & Pick<Member, 'id' | 'kind'>,
): Member {
  const seed = Math.min(...world.sinks.filter(sink => sink.seed).map(sink => sink.generation))
  const member: Member = {
    id,
    kind,
    verifies: true,
    instance: 1,
    online: true,
    gone: false,
    lastSeen: world.now,
    reloads: true,
    orderable: true,
    disk: seed,
    loaded: seed,
    renewable: true,
    restarting: false,
    fence: fresh(),
    ...more,
  }
  world.members.push(member)
  world.byId.set(id, member)
  issueTo(world, member)
  return member
}

/** A certificate from whoever signs now; none while nobody does. */
export function issueTo(world: World, member: Member): void {
  const { authority, mode } = world.signer
  const presents = world.role !== 'apiserver-serving' && (member.kind === 'Kubelet' || member.id === 'admin')
  if (!presents || authority === undefined) return
  const issuerNotAfter = world.ends(authority)
  member.leaf = { authority, mode, notAfter: Math.min(world.now + 365 * day, issuerNotAfter), issuerNotAfter }
  world.hooks?.issued(member, member.leaf)
}

/** Puts a bundle on the consumer's disk, unless it refuses it. I5: a lower generation than it has is refused. */
export function take({ hooks }: World, member: Member, generation: number): void {
  if (generation > member.disk && hooks?.takes(member, generation) !== false) member.disk = generation
}

export function anchorsOf(world: World, generation: number): readonly number[] {
  const [first] = world.bundles
  return world.bundles[generation - (first?.generation ?? 1)]?.anchors ?? []
}

export function verifies(world: World, chain: Chain, generation: number): boolean {
  return world.pool.verifies(chain, anchorsOf(world, generation))
}
