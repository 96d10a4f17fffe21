/** Carries a rotation out on a cluster that is not ours: by its API, by hooks of its operator, by handshakes. */
import { RollcallError } from '../../errors.ts'
import type { ControllerAdapter } from '../../rollover/controller.ts'
import type { Order } from '../../rollover/effects/effect.ts'
import type { ConsumerFacts } from '../../rollover/observations.ts'
import type { Plan } from '../../rollover/plan.ts'
import type { NodeOrder } from '../../trust/node-orders.ts'
import { rootCaName } from '../../trust/root-ca.ts'
import type { CaStore } from '../rollover/ca-store.ts'
import { OrderBook } from '../rollover/order-book.ts'
import { holdCeremony } from '../rollover/signed-bundles.ts'
import { ApiServerTrials } from './api-servers.ts'
import { type GenericControl, leaderNow } from './generic-control.ts'
import { bundlesOf, type FactParts, type Facts, gatherFacts } from './generic-facts.ts'
import type { GenericState } from './generic-state.ts'
import { GenericView } from './generic-view.ts'
import { bundleFile, type HandedFiles } from './handed-files.ts'
import { renewKubeconfig } from './kubeconfig-leaf.ts'
import { NodeDials } from './node-dials.ts'
import { type Fence, OrderHooks } from './order-hooks.ts'
import { OtherSigner } from './other-signer.ts'
import { whyBlind, whyShutOut } from './own-way-in.ts'
import type { ManagedRole } from './rollover-file.ts'
import { allShowByName, presentChain, type ServerParts, trustClients } from './server-orders.ts'
import { notePublication, publishInSink, type SinkOrders } from './sink-orders.ts'

/** Milliseconds between two attempts at a proof by the same agent. */
const attemptEvery = 3000

export class GenericAdapter implements ControllerAdapter {
  readonly #control: GenericControl
  readonly #role: ManagedRole
  readonly #cas: CaStore
  readonly #servers: ReadonlyMap<string, ApiServerTrials>
  readonly #nodes: NodeDials
  readonly #view: GenericView
  readonly #book: OrderBook
  readonly #hooks: OrderHooks
  readonly #signer: OtherSigner | undefined
  readonly #shown = new Map<number, Promise<boolean>>()
  #took = 0
  #consumers: readonly ConsumerFacts[] = []

  constructor(control: GenericControl, role: ManagedRole, cas: CaStore) {
    this.#control = control
    this.#role = role
    this.#cas = cas
    this.#servers = new Map(
      control.file.apiServers.map(server => [
        server.name,
        new ApiServerTrials(server, { ...control, cas, role }),
      ]),
    )
    this.#hooks = new OrderHooks(control, role)
    const { asCanary } = control
    this.#signer = role === 'client' && asCanary ? new OtherSigner({ ...control, asCanary, cas }) : undefined
    this.#view = new GenericView(control, role, {
      run: (name, hook, variables) => this.#hooks.ask(name, hook, variables),
      bundleFile: (name, pem) => bundleFile(name, pem, this.#handed()),
    })
    this.#nodes = new NodeDials({ ...control, cas })
    this.#book = new OrderBook({ ...control, reader: this.#view.reader }, role)
  }

  async gather(plan: Plan): Promise<Facts> {
    const began = this.#control.clock.monotonic()
    const facts = await this.#gather(plan)
    this.#took = this.#control.clock.monotonic() - began
    return facts
  }

  /** Milliseconds that the last gathering took: a large cluster is asked less often. */
  get took(): number {
    return this.#took
  }

  async #gather(plan: Plan): Promise<Facts> {
    await this.#look()
    const leader = await leaderNow(this.#control)
    if (leader.token === 0)
      throw new RollcallError('NOT_LEADING', 'another controller leads: nothing is decided here')
    this.#publishRootCa()
    const facts = await gatherFacts(plan, leader, this.#parts())
    if (this.#role === 'apiserver-serving')
      await notePublication(facts, { token: leader.token, sequence: plan.sequence }, this.#sinkOrders())
    this.#hooks.awaited.clear()
    this.#shown.clear()
    this.#consumers = facts.consumers
    return facts
  }

  /** Nothing rotates: nodes without the bundle that is published are told of it. */
  async steady(plan: Plan): Promise<readonly ConsumerFacts[]> {
    const { consumers, leader } = await this.gather(plan)
    const { bundle: generation } = this.#state()
    for (const { id, orderable, onDisk = 0 } of consumers)
      if (orderable && onDisk < generation) this.#tell(id, { kind: 'load-bundle', generation })
    await this.#book.send({ token: leader.token, sequence: plan.sequence })
    return consumers
  }

  /** As gathered last. */
  get consumers(): readonly ConsumerFacts[] {
    return this.#consumers
  }

  async carryOut(order: Order): Promise<void> {
    const { effect } = order
    const role = this.#role
    switch (effect.kind) {
      case 'create-authority':
        return this.#create(effect.authority)
      case 'cross-sign':
        return this.#cas.crossSign(role, effect.subject, effect.issuer)
      case 'publish-bundle':
        return publishInSink(effect.sink, effect.generation, order, this.#sinkOrders())
      case 'load-bundle':
        return this.#tell(effect.consumer, { kind: 'load-bundle', generation: effect.generation })
      case 'restart':
        return this.#tell(effect.consumer, { kind: 'restart-kubelet', notBefore: effect.notBefore })
      case 'present':
        this.#hooks.guard(whyBlind(this.#control.connection.trusts(), this.#cas, effect))
        return presentChain(effect, order, this.#serverParts())
      case 'client-trust':
        return this.#clientTrust(effect, order)
      case 'sign-with': {
        const { authority, mode } = effect
        await this.#signer?.order(authority, order, this.#hooks)
        return this.#change(order, () => ({ sign: { mode, ...(authority !== undefined && { authority }) } }))
      }
      case 'renew':
        return this.#renew(effect.holder, effect.notBefore)
      case 'probe':
      case 'probe-refusal':
        return this.#probe(effect, order)
      case 'try-refusal':
      case 'try-canary':
        // Servers are tried with each gathering.
        return
      case 'close-connections':
        // Of API servers that are not ours none can be closed from here: nodes close theirs when they renew.
        return
      case 'freeze-approval':
      case 'retire-key':
        // Nothing signs while the pointer is empty; keys are kept.
        return
    }
  }

  async ceremony({ from, to, reason }: Plan): Promise<void> {
    const { clock, roots, client } = this.#control
    await this.#look()
    // 3.8 E1: without a CA that is trusted in advance one is made, and crossed with none, since the thief could sign too.
    if (reason === 'Compromise') await this.#create(to)
    if (!this.#cas.authority(this.#role, to)) return
    const { bundle } = this.#state()
    const known = [...bundlesOf(this.#parts()).values()].filter(({ generation }) => generation > bundle)
    if (known.some(({ anchors }) => anchors.includes(to) && anchors.includes(from))) return
    const parts = { client, reader: this.#view.reader, roots, cas: this.#cas, now: clock.now() }
    await holdCeremony(this.#role, [from, to], parts)
  }

  async finish({ fencing: token, sequence }: Plan): Promise<void> {
    await this.#book.send({ token, sequence })
  }

  async #look(): Promise<void> {
    // Who signs without writing it down is seen by his requests alone.
    const published = this.#control.trust.role(this.#role)?.publishedAt ?? 0
    await this.#view.look(this.#signer ? Number.POSITIVE_INFINITY : published)
  }

  #state(): GenericState {
    const state = this.#control.trust.role(this.#role)
    if (!state) throw new RangeError('the state of the rollover was not read yet')
    return state
  }

  #parts(): FactParts {
    return {
      control: this.#control,
      role: this.#role,
      cas: this.#cas,
      state: this.#state(),
      snapshot: this.#view.reader,
      servers: this.#servers,
      nodes: this.#nodes,
      sinks: this.#view.sinks,
      signer: this.#signer,
      awaited: this.#hooks.awaited,
    }
  }

  #handed(): HandedFiles {
    return { ...this.#control, directory: this.#control.file.directory, cas: this.#cas }
  }

  #change(fence: Fence, change: (state: GenericState) => Partial<GenericState>): Promise<void> {
    return this.#control.trust.change(this.#role, { token: fence.token, sequence: fence.sequence }, change)
  }

  /** A key that lies in a token is not followed by one in a file, unless the operator says that it may be. */
  async #create(authority: number): Promise<void> {
    const { directory, authorities } = this.#control.file
    const stays = !this.#cas.authority(this.#role, authority) && !authorities[this.#role]?.successorsInFiles
    const asked = `its key would be made in a file of ${directory}; allow that by \`successors: files\` beside the CA of ${this.#role}`
    this.#hooks.need(`CA ${authority}`, stays ? asked : undefined)
    await this.#cas.create(this.#role, authority)
  }

  async #clientTrust(
    { server, generation }: Extract<Order['effect'], { kind: 'client-trust' }>,
    order: Fence,
  ): Promise<void> {
    const pem = bundlesOf(this.#parts()).get(generation)?.pem
    if (pem === undefined || !this.#servers.has(server)) return
    const { connection } = this.#control
    this.#hooks.guard(whyShutOut(connection.presents(), pem))
    if (this.#state().judgesBy[server] !== generation)
      await this.#change(order, ({ judgesBy }) => ({ judgesBy: { ...judgesBy, [server]: generation } }))
    await trustClients({ server, generation, pem }, order, this.#serverParts())
  }

  /** An agent is asked when every API server shows the bare chain to who asks for it by name. Others are tried elsewhere. */
  async #probe(
    { kind, consumer, authority }: Extract<Order['effect'], { kind: 'probe' | 'probe-refusal' }>,
    order: Fence,
  ): Promise<void> {
    const node = /^agent\/(.+)$/.exec(consumer)?.[1]
    if (node === undefined || this.#role !== 'apiserver-serving' || !this.#control.file.hooks.probe) return
    const attempt = Math.floor(this.#control.clock.now() / attemptEvery)
    // Once a turn, however many agents there are.
    const shown = this.#shown.get(authority) ?? allShowByName(authority, order, this.#serverParts())
    this.#shown.set(authority, shown)
    if (await shown) this.#book.add(node, { kind, authority, attempt })
  }

  #sinkOrders(): SinkOrders {
    return {
      ...this.#control,
      sinks: this.#view.sinks,
      state: () => this.#state(),
      change: (fence, change) => this.#change(fence, change),
      hooks: this.#hooks,
      pem: generation => bundlesOf(this.#parts()).get(generation)?.pem,
    }
  }

  /** Level, not edge: who has begun to lead amid a rotation publishes what was ordered before. */
  #publishRootCa(): void {
    const { file, trust } = this.#control
    if (this.#role !== 'apiserver-serving' || !file.publishRootCa) return
    const { sinks, bundle } = this.#state()
    const pem = bundlesOf(this.#parts()).get(sinks[rootCaName] ?? bundle)?.pem
    if (pem !== undefined) trust.publish(pem)
  }

  #serverParts(): ServerParts {
    return { servers: this.#servers, hooks: this.#hooks, handed: this.#handed() }
  }

  async #renew(holder: string, notBefore: number): Promise<void> {
    const { trust, file, disk, clock, random } = this.#control
    const ca = trust.signing(this.#role)
    if (!ca) return
    const kubeconfig = /^kubeconfig\/(.+)$/.exec(holder)?.[1]
    const entry = file.sinks.find(({ name }) => name === kubeconfig)
    if (entry?.kind === 'kubeconfig') return renewKubeconfig(entry.path, ca, { disk, clock, random })
    const { subjectKeyIdentifier } = ca.certificate
    const node = nodeOf(holder)
    if (node === undefined || !subjectKeyIdentifier) return
    this.#book.add(node, {
      kind: 'renew',
      issuer: Buffer.from(subjectKeyIdentifier).toString('hex'),
      notBefore,
    })
  }

  #tell(consumer: string, order: NodeOrder): void {
    const node = nodeOf(consumer)
    if (node !== undefined) this.#book.add(node, order)
  }
}

/** Ids of consumers and holders on nodes are `agent/NAME` and `kubelet/NAME`. */
function nodeOf(id: string): string | undefined {
  return /^(?:agent|kubelet)\/(.+)$/.exec(id)?.[1]
}
