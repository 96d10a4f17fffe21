/** Carries a rotation out on a cluster of kubeadm: by its API, and by the agents of its control-plane nodes, one at a time. */
import { RollcallError } from '../../errors.ts'
import { isStatus } from '../../kube/client.ts'
import { type KubeNode, resources } from '../../kube/types.ts'
import type { ControllerAdapter } from '../../rollover/controller.ts'
import type { Order } from '../../rollover/effects/effect.ts'
import type { ConsumerFacts } from '../../rollover/observations.ts'
import type { Plan } from '../../rollover/plan.ts'
import { controlPlaneAnnotation, encodeControlPlaneOrders } from '../../trust/control-plane-orders.ts'
import type { ControlPlaneRole } from '../../trust/control-plane-report.ts'
import type { NodeOrder } from '../../trust/node-orders.ts'
import { emptySnapshot, type Snapshot, takeSnapshot } from '../generic/snapshot.ts'
import { OrderBook } from '../rollover/order-book.ts'
import { holdCeremony } from '../rollover/signed-bundles.ts'
import type { TrustSink } from '../rollover/trust-sinks.ts'
import { ApiServerTrials } from './api-server-trials.ts'
import { type KubeadmControl, keyIdIn } from './kubeadm-control.ts'
import { bundlesOf, type FactParts, type Facts, gatherFacts, nodeSinkId, reportOf } from './kubeadm-facts.ts'
import { kubeadmSinks } from './kubeadm-sinks.ts'
import { KubeletDials } from './kubelet-dials.ts'
import { namedRestarts, restartsSentence } from './named-restarts.ts'
import {
  isSettled,
  type NodeTarget,
  type RoleTargets,
  readTargets,
  type StoredTargets,
  type Targets,
  undoneBy,
  writeTargets,
} from './node-targets.ts'
import { SealedKeys } from './sealed-keys.ts'

type Fence = Pick<Order, 'token' | 'sequence'>

/** Milliseconds: a third of the year that certificates of a control plane live, as agents see it. */
const renewBefore = 110 * 86_400_000
/** Milliseconds between two attempts at a proof by the same consumer. */
const attemptEvery = 3000

export class KubeadmAdapter implements ControllerAdapter {
  readonly #control: KubeadmControl
  readonly #role: ControlPlaneRole
  readonly #trials: ApiServerTrials
  readonly #kubelets: KubeletDials
  readonly #sinks: readonly TrustSink[]
  readonly #book: OrderBook
  readonly #keys: SealedKeys
  /** Why each node was sealed no key when it was looked at last. */
  readonly #refused = new Map<string, string | undefined>()
  #snapshot: Snapshot = emptySnapshot
  #targets: Targets | undefined
  #plan: Plan | undefined
  #consumers: readonly ConsumerFacts[] = []

  constructor(control: KubeadmControl, role: ControlPlaneRole) {
    this.#control = control
    this.#role = role
    this.#trials = new ApiServerTrials(control)
    this.#kubelets = new KubeletDials(this.#trials, control.clock)
    this.#sinks = kubeadmSinks(control.client, () => this.#snapshot).filter(sink => sink.role === role)
    this.#keys = new SealedKeys(control)
    const reader: Snapshot = {
      get: (...args) => this.#snapshot.get(...args),
      list: (...args) => this.#snapshot.list(...args),
      generation: () => 0,
    }
    this.#book = new OrderBook({ ...control, reader }, role)
  }

  /** As gathered last. */
  get consumers(): readonly ConsumerFacts[] {
    return this.#consumers
  }

  /** As read last. */
  get snapshot(): Snapshot {
    return this.#snapshot
  }

  /** Orders of the role stand at this. */
  get fence(): Fence | undefined {
    return this.#targets?.[this.#role].fence
  }

  /** What this rotation will start anew at most, a sentence a node. */
  restarts(): string[] {
    const told = (name: string) => namedRestarts(this.#role, reportOf(name, this.#parts()))
    return this.#control.nodes.map(name => restartsSentence(name, told(name)))
  }

  async gather(plan: Plan): Promise<Facts> {
    this.#plan = plan
    await this.#look()
    const facts = await gatherFacts(plan, this.#parts())
    await this.#notePublication(facts, plan)
    this.#consumers = facts.consumers
    return facts
  }

  async carryOut(order: Order): Promise<void> {
    const { effect } = order
    const { cas } = this.#control
    const role = this.#role
    switch (effect.kind) {
      case 'create-authority':
        return cas.create(role, effect.authority)
      case 'cross-sign':
        return cas.crossSign(role, effect.subject, effect.issuer)
      case 'publish-bundle':
        return this.#publish(effect.sink, effect.generation, order)
      case 'load-bundle':
        return this.#tell(effect.consumer, { kind: 'load-bundle', generation: effect.generation })
      case 'restart':
        return this.#tell(effect.consumer, { kind: 'restart-kubelet', notBefore: effect.notBefore })
      case 'probe':
      case 'probe-refusal':
        if (role === 'client') return // whom servers and kubelets let in is tried with each gathering
        return this.#tell(effect.consumer, {
          kind: effect.kind,
          authority: effect.authority,
          attempt: Math.floor(this.#control.clock.now() / attemptEvery),
        })
      case 'present': {
        const authority = this.#keyId(effect.authority)
        return this.#change(effect.server, order, { present: { authority, mode: effect.mode } })
      }
      case 'client-trust':
        return this.#change(effect.server, order, { trust: effect.generation })
      case 'sign-with':
        return this.#signWith(effect.authority, order)
      case 'renew':
        return this.#renew(effect.holder, effect.authority, effect.notBefore, order)
      case 'try-refusal':
      case 'try-canary':
      case 'close-connections':
        // Tried with each gathering; kube-apiserver keeps the connections it has.
        return
      case 'freeze-approval':
      case 'retire-key':
        return
    }
  }

  async ceremony({ from, to, reason }: Plan): Promise<void> {
    const { cas, client, roots, clock } = this.#control
    await this.#look()
    if (reason === 'Compromise') await cas.create(this.#role, to)
    if (!cas.authority(this.#role, to)) return
    const { bundle } = this.#state()
    const known = [...bundlesOf(this.#parts()).values()].filter(({ generation }) => generation > bundle)
    if (known.some(({ anchors }) => anchors.includes(to) && anchors.includes(from))) return
    const parts = { client, reader: this.#snapshot, roots, cas, now: clock.now() }
    await holdCeremony(this.#role, [from, to], parts)
  }

  /**
   * Nothing rotates: nodes without the bundle that is published are told of it, certificates that were made on a control-plane
   * node are made anew before they end, on one node at a time, and each is told what stands.
   */
  async steady(plan: Plan): Promise<readonly ConsumerFacts[]> {
    const { consumers, leader } = await this.gather(plan)
    const { bundle: generation } = this.#state()
    for (const { id, orderable, onDisk = 0 } of consumers)
      if (orderable && onDisk < generation) this.#tell(id, { kind: 'load-bundle', generation })
    await this.#renewAging(leader.token)
    await this.finish({ ...plan, fencing: leader.token })
    return consumers
  }

  async #renewAging(token: number): Promise<void> {
    const { client, clock, nodes } = this.#control
    const stored = await readTargets(client)
    const { nodes: targets, fence } = stored.roles[this.#role]
    const isAging = (name: string) =>
      (reportOf(name, this.#parts())?.ends ?? Infinity) < clock.now() + renewBefore
    const name = nodes.find(one => targets[one] !== undefined && isAging(one))
    const target = name === undefined ? undefined : targets[name]
    const allSettled = nodes.every(one => isSettled(one, stored.roles, reportOf(one, this.#parts())))
    if (name === undefined || !target || !allSettled) return
    const next = { token: Math.max(token, fence.token), sequence: fence.sequence + 1 }
    await this.#write(stored, next, { nodes: { ...targets, [name]: { ...target, ...next } } })
  }

  /** Agents are told what stands, each its own part, with the keys that it lacks sealed to it. */
  async finish({ fencing: token, sequence }: Pick<Plan, 'fencing' | 'sequence'>): Promise<void> {
    await this.#book.send({ token, sequence })
    const { roles } = await readTargets(this.#control.client)
    for (const [name, target] of Object.entries(roles[this.#role].nodes)) await this.#show(name, target)
  }

  async #look(): Promise<void> {
    const { client } = this.#control
    // Targets first: what reports say is then never older than what it is compared with.
    this.#targets = (await readTargets(client)).roles
    this.#snapshot = await takeSnapshot(client)
  }

  #state(): RoleTargets {
    if (!this.#targets) throw new RangeError('the targets were not read yet')
    return this.#targets[this.#role]
  }

  #parts(): FactParts {
    if (!this.#targets) throw new RangeError('the targets were not read yet')
    return {
      control: this.#control,
      role: this.#role,
      targets: this.#targets,
      snapshot: this.#snapshot,
      trials: this.#trials,
      kubelets: this.#kubelets,
      sinks: this.#sinks,
    }
  }

  #keyId(generation: number): string {
    const id = keyIdIn(this.#control.cas, this.#role, generation)
    if (id === undefined) throw new RangeError(`CA ${generation} of ${this.#role} is not known here`)
    return id
  }

  async #publish(id: string, generation: number, order: Fence): Promise<void> {
    const node = this.#control.nodes.find(name => nodeSinkId(name) === id)
    if (node !== undefined) return this.#change(node, order, { trust: generation }, generation)
    const sink = this.#sinks.find(one => one.id === id)
    const pem = bundlesOf(this.#parts()).get(generation)?.pem
    if (!sink || pem === undefined) return
    const stored = await readTargets(this.#control.client)
    const { sinks, bundle } = stored.roles[this.#role]
    if (sinks[id] !== generation) {
      const next = { sinks: { ...sinks, [id]: generation }, bundle: Math.max(bundle, generation) }
      if (!(await this.#write(stored, order, next))) return
    }
    await sink.write(pem)
  }

  async #signWith(authority: number | undefined, order: Fence): Promise<void> {
    if (authority === undefined)
      throw new RollcallError(
        'CONTROL_PLANE_UNFIT',
        'kube-controller-manager cannot be told to sign with no CA: stop its signers by hand (--controllers=*,-csrsigning).',
      )
    if (this.#role !== 'client') return // what an API server presents is made on its node
    for (const node of this.#control.nodes) await this.#change(node, order, { sign: this.#keyId(authority) })
  }

  /** To a certificate of the CA that signs now. `authority`: the one of the plan; on the way back it is the other. */
  async #renew(holder: string, authority: number, notBefore: number, order: Fence): Promise<void> {
    const signing = this.#targets?.client.nodes
    const ids = this.#control.nodes.map(name => signing?.[name]?.sign ?? this.#keyId(1))
    const [id = this.#keyId(authority)] = ids
    const node = this.#control.nodes.find(name => nodeSinkId(name) === holder)
    if (node !== undefined) return this.#change(node, order, { own: id })
    const kubelet = /^kubelet\/(.+)$/.exec(holder)?.[1]
    if (kubelet !== undefined) this.#book.add(kubelet, { kind: 'renew', issuer: id, notBefore })
  }

  /**
   * One node's control plane is to be otherwise. It is told only when all others have settled, by the version of the one object
   * that all targets stand in: of two orchestrators one loses, and of two nodes one waits for the next turn.
   */
  async #change(node: string, order: Fence, change: Partial<NodeTarget>, bundle = 0): Promise<void> {
    const stored = await readTargets(this.#control.client)
    const { roles } = stored
    const state = roles[this.#role]
    const before = state.nodes[node]
    const base = before ?? this.#asKubeadmMadeIt()
    const next = { ...base, ...change, ...this.#probes() }
    const retried = undoneBy(node, this.#role, roles, reportOf(node, this.#parts())) !== undefined
    const isSame = before && JSON.stringify(before) === JSON.stringify({ ...next })
    const isNewer = before && (before.token < order.token || before.sequence < order.sequence)
    if (isSame && !(retried && isNewer)) return
    const others = this.#control.nodes.filter(name => name !== node)
    if (!others.every(name => isSettled(name, roles, reportOf(name, this.#parts())))) return
    const target = { ...next, token: order.token, sequence: order.sequence }
    await this.#write(stored, order, {
      nodes: { ...state.nodes, [node]: target },
      bundle: Math.max(state.bundle, bundle),
    })
  }

  /** The first orders say all that a role has, so that flags change once. */
  #asKubeadmMadeIt(): NodeTarget {
    const base = { token: 0, sequence: 0, trust: 1 }
    const first = this.#keyId(1)
    return this.#role === 'client'
      ? { ...base, sign: first, own: first }
      : { ...base, present: { authority: first, mode: 'old' } }
  }

  /** Both bare chains, for agents that are asked to prove whom they trust, and whom no longer. */
  #probes(): Pick<NodeTarget, 'probes'> {
    if (this.#role !== 'apiserver-serving' || !this.#plan) return {}
    const { from, to } = this.#plan
    const probes = [from, to].flatMap(number => {
      const authority = keyIdIn(this.#control.cas, this.#role, number)
      return authority === undefined ? [] : [{ number, authority }]
    })
    return { probes }
  }

  async #write(
    stored: StoredTargets,
    { token, sequence }: Fence,
    change: Partial<RoleTargets>,
  ): Promise<boolean> {
    const written = await writeTargets(this.#control.client, stored, this.#role, { token, sequence }, change)
    if (written) this.#targets = written.roles
    return written !== undefined
  }

  async #show(name: string, target: NodeTarget): Promise<void> {
    const { client, cas, log } = this.#control
    const node = this.#snapshot.get<KubeNode>(resources.nodes, name)
    if (!node) return
    const { sealed, refused } = this.#keys.forNode(this.#role, node, reportOf(name, this.#parts()))
    if (refused !== undefined && this.#refused.get(name) !== refused)
      log.warn('a node is sealed no key', { node: name, why: refused })
    this.#refused.set(name, refused)
    const key = controlPlaneAnnotation(this.#role)
    const crosses = Object.fromEntries(
      cas.generations(this.#role).flatMap(generation => {
        const der = this.#keys.cross(this.#role, generation)
        return der === undefined ? [] : [[this.#keyId(generation), der] as const]
      }),
    )
    const text = encodeControlPlaneOrders({ ...target, sealed, crosses })
    if (node.metadata.annotations?.[key] === text) return
    try {
      await client.patch(resources.nodes, { name }, 'merge', { metadata: { annotations: { [key]: text } } })
    } catch (error) {
      if (!isStatus(error, 'NotFound')) throw error
    }
  }

  /** Since when kube-root-ca.crt is known to be everywhere: pods that were started later have mounted it. */
  async #notePublication({ sinks, now, leader }: Facts, { sequence }: Plan): Promise<void> {
    const { bundle, publishedAt } = this.#state()
    const places = sinks.filter(({ seed }) => !seed)
    const isThere = bundle > 1 && places.every(({ generation }) => generation >= bundle)
    if (this.#role !== 'apiserver-serving' || isThere === (publishedAt !== undefined)) return
    const stored = await readTargets(this.#control.client)
    if (stored.roles[this.#role].bundle !== bundle) return
    await this.#write(stored, { token: leader.token, sequence }, { publishedAt: isThere ? now : undefined })
  }

  #tell(consumer: string, order: NodeOrder): void {
    const node = /^(?:agent|kubelet)\/(.+)$/.exec(consumer)?.[1]
    if (node !== undefined) this.#book.add(node, order)
  }
}
