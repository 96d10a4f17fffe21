/** Carries a rotation out on the embedded control plane: the RolloverAdapter of `up` and `server`. */
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { Peer } from '../../kube/transport.ts'
import type { Order } from '../../rollover/effects/effect.ts'
import type { ConsumerFacts, Observations } from '../../rollover/observations.ts'
import type { Plan } from '../../rollover/plan.ts'
import { policyOf } from '../../rollover/policy.ts'
import type { RolloverAdapter } from '../../rollover/turn.ts'
import { changeState, type EmbeddedControl } from './embedded-control.ts'
import { consumersOf, type FactParts, gatherFacts, serverId } from './embedded-facts.ts'
import { NodeTrials } from './node-trials.ts'
import { OrderBook } from './order-book.ts'
import { PodPublication } from './pod-publication.ts'
import { servedBy } from './seen-consumers.ts'
import { ServerTrials } from './server-trials.ts'
import { holdCeremony, signedBundles } from './signed-bundles.ts'
import { strangersToAsk } from './strangers-to-ask.ts'

/** Milliseconds between two attempts at a proof by the same consumer. */
const attemptEvery = 3000
/** Milliseconds that strangers are asked to prove themselves after the last order to do so. */
const canaryLasts = 5000
/** Nodes that are asked at one time while nothing rotates. */
const mostInPeace = 10
const { timings } = policyOf()

export class EmbeddedAdapter implements RolloverAdapter {
  readonly #control: EmbeddedControl
  readonly #role: TrustRole
  readonly #server: ServerTrials
  readonly #nodes: NodeTrials
  readonly #pods = new PodPublication()
  readonly #book: OrderBook
  readonly #canaries = new Set<number>()
  #canariesFor = ''
  #facts: Omit<Observations, 'gatheredAfter'> | undefined

  constructor(control: EmbeddedControl, role: TrustRole) {
    this.#control = control
    this.#role = role
    this.#server = new ServerTrials(control, role)
    this.#nodes = new NodeTrials(control)
    this.#book = new OrderBook(control, role)
  }

  async gather(plan: Plan): Promise<Omit<Observations, 'gatheredAfter'>> {
    const { sign, judgesBy } = this.#control.trust.role(this.#role)
    const pointed = JSON.stringify([sign, judgesBy])
    if (pointed !== this.#canariesFor) this.#canaries.clear()
    this.#canariesFor = pointed
    this.#facts = await gatherFacts(plan, this.#parts())
    return this.#facts
  }

  async carryOut({ effect, token, sequence }: Order): Promise<void> {
    const { cas, trust } = this.#control
    const role = this.#role
    const change = (with_: Parameters<typeof changeState>[3]) =>
      changeState(this.#control, role, { token, sequence }, with_)
    switch (effect.kind) {
      case 'create-authority':
        return cas.create(role, effect.authority)
      case 'cross-sign':
        return cas.crossSign(role, effect.subject, effect.issuer)
      case 'publish-bundle':
        return this.#publish(effect.sink, effect.generation, change)
      case 'load-bundle':
        return this.#tellNode(effect.consumer, { kind: 'load-bundle', generation: effect.generation })
      case 'restart':
        return this.#tellNode(effect.consumer, { kind: 'restart-kubelet', notBefore: effect.notBefore })
      case 'probe':
        return this.#probe(effect.consumer, effect.authority)
      case 'probe-refusal':
        return this.#probeRefusal(effect.consumer, effect.authority)
      case 'present':
        await trust.prepareChain(effect.authority, effect.mode)
        return change(() => ({ present: { authority: effect.authority, mode: effect.mode } }))
      case 'client-trust':
        return change(() => ({ judgesBy: effect.generation }))
      case 'sign-with': {
        const { authority, mode } = effect
        return change(() => ({ sign: { mode, ...(authority !== undefined && { authority }) } }))
      }
      case 'try-canary':
        if (await this.#server.canary(effect.authority)) this.#canaries.add(effect.authority)
        return
      case 'try-refusal':
        // Tried with each gathering, as long as it is not accepted.
        return
      case 'renew':
        return this.#renew(effect.holder, effect.notBefore)
      case 'close-connections':
        this.#control.connections.retire(peer => this.#depends(peer, effect.authority))
        return
      case 'freeze-approval':
      case 'retire-key':
        // Nothing signs while the pointer is empty; keys are kept.
        return
    }
  }

  /** After the orders of a turn: nodes are told, and whoever has no agent is asked to prove itself. */
  async finish(plan: Plan, authority?: number): Promise<void> {
    if (authority !== undefined) await this.#askStrangers(plan, authority)
    await this.#book.send({ token: plan.fencing, sequence: plan.sequence })
  }

  /** Nothing rotates: nodes without the bundle that is published are told of it. Resolves with the consumers. */
  async steady(fence: { token: number; sequence: number }): Promise<ConsumerFacts[]> {
    const consumers = consumersOf(this.#parts())
    const { bundle } = this.#control.trust.role(this.#role)
    for (const { node, orderable, onDisk = 0 } of consumers)
      if (node !== undefined && orderable && onDisk < bundle)
        this.#book.add(node, { kind: 'load-bundle', generation: bundle })
    await this.#probeInPeace(consumers)
    await this.#book.send(fence)
    return consumers
  }

  /** Who has the CA that comes next in its bundle proves now that it would verify it; a few at a time, nothing waits. */
  async #probeInPeace(consumers: readonly ConsumerFacts[]): Promise<void> {
    const { trust, clock } = this.#control
    const { bundle } = trust.role(this.#role)
    const anchors = signedBundles(this.#role, this.#control).get(bundle)?.anchors ?? []
    if (anchors.length < 2) return
    const next = Math.max(...anchors)
    const now = clock.now()
    const due = consumers.filter(({ kind, orderable, proof, lastSeen }) => {
      const loaded = kind === 'Agent' && orderable && proof && proof.generation >= bundle
      if (!loaded || now - lastSeen > timings.live) return false
      return !proof.authorities?.includes(next) || now - proof.at > timings.proofAge / 2
    })
    for (const { id } of due.slice(0, mostInPeace)) await this.#probe(id, next)
  }

  /** As gathered last. */
  get consumers(): readonly ConsumerFacts[] {
    return this.#facts?.consumers ?? []
  }

  /** The roots that are online sign what this rotation needs, once there is something to sign. */
  async ceremony({ from, to, reason }: Plan): Promise<void> {
    const { cas, clock } = this.#control
    // 3.8 E1: without a CA that is trusted in advance one is made, and crossed with none, since the thief could sign too.
    if (reason === 'Compromise') await cas.create(this.#role, to)
    if (!cas.authority(this.#role, to)) return
    const { bundle } = this.#control.trust.role(this.#role)
    const known = [...signedBundles(this.#role, this.#control).values()].filter(
      ({ generation }) => generation > bundle,
    )
    if (known.some(({ anchors }) => anchors.includes(to) && anchors.includes(from))) return
    await holdCeremony(this.#role, [from, to], { ...this.#control, now: clock.now() })
  }

  #parts(): FactParts {
    return {
      control: this.#control,
      role: this.#role,
      server: this.#server,
      nodes: this.#nodes,
      pods: this.#pods,
      canaries: this.#canaries,
    }
  }

  async #publish(
    id: string,
    generation: number,
    change: (with_: Parameters<typeof changeState>[3]) => Promise<void>,
  ): Promise<void> {
    const sink = this.#control.sinks.find(one => one.id === id && one.role === this.#role)
    const pem = signedBundles(this.#role, this.#control).get(generation)?.pem
    if (!sink || pem === undefined) return
    await change(({ sinks, bundle }) => ({
      sinks: { ...sinks, [id]: generation },
      bundle: Math.max(bundle, generation),
    }))
    await sink.write(pem)
  }

  async #probe(consumer: string, authority: number): Promise<void> {
    const { trust } = this.#control
    const node = nodeOf(consumer)
    // The server is tried with each gathering; strangers are asked when all nodes have answered.
    if (consumer === serverId || node === undefined) return
    if (this.#role === 'client') return this.#nodes.present(node, authority)
    await trust.prepareChain(authority, 'bare')
    this.#book.add(node, { kind: 'probe', authority, attempt: this.#attempt() })
  }

  async #probeRefusal(consumer: string, authority: number): Promise<void> {
    const node = nodeOf(consumer)
    if (node === undefined) return
    if (this.#role === 'client') return this.#nodes.present(node, authority)
    await this.#control.trust.prepareChain(authority, 'bare')
    this.#book.add(node, { kind: 'probe-refusal', authority, attempt: this.#attempt() })
  }

  /** To a certificate of the CA that signs now: on the way back that is the old one again. */
  async #renew(holder: string, notBefore: number): Promise<void> {
    const own = this.#control.own[this.#role]?.[holder]
    if (own) return own.renew()
    const issuer = this.#control.trust.signing(this.#role)?.certificate.subjectKeyIdentifier
    const node = nodeOf(holder)
    if (node === undefined || !issuer) return
    this.#book.add(node, { kind: 'renew', issuer: Buffer.from(issuer).toString('hex'), notBefore })
  }

  /** At the real endpoint: the next connection from where one of them came is shown the bare chain. */
  async #askStrangers(plan: Plan, authority: number): Promise<void> {
    if (this.#role !== 'apiserver-serving' || !this.#facts) return
    const { trust, connections } = this.#control
    const wanted = strangersToAsk(plan, authority, this.#facts)
    if (wanted.size === 0) return
    await trust.prepareChain(authority, 'bare')
    const until = this.#facts.now + canaryLasts
    trust.canary({ authority, until, wanted, retry: plan.policy.timings.canaryRetry })
    connections.retire(peer => wanted.has(trust.seen.strangerOf(peer)?.id ?? ''))
  }

  /** Whether the connection was made with a certificate of this CA: the server's, or the client's. */
  #depends(peer: Peer, authority: number): boolean {
    if (this.#role === 'apiserver-serving') return servedBy(peer) === authority
    return this.#control.trust.seen.presents(peer, authority)
  }

  #tellNode(consumer: string, order: Parameters<OrderBook['add']>[1]): void {
    const node = nodeOf(consumer)
    if (node !== undefined) this.#book.add(node, order)
  }

  #attempt(): number {
    return Math.floor(this.#control.clock.now() / attemptEvery)
  }
}

/** Ids of consumers and holders on nodes are `agent/NAME` and `kubelet/NAME`. */
function nodeOf(id: string): string | undefined {
  return /^(?:agent|kubelet)\/(.+)$/.exec(id)?.[1]
}
