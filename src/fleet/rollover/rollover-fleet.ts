/**
 * A fleet of any size whose CA is rolled over: the cluster of the model check, with the production step, trust bundles,
 * signing and path checks, and TLS where it is asked for. Nothing waits for a clock.
 */
import type { KeyAlgorithm } from '../../keys/private-key.ts'
import type { RotationPolicySpec, RotationReason } from '../../kube/rollcall/ca-rotation.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { finalPhases } from '../../rollover/plan.ts'
import { poolTime } from '../../rollover/simulated/authority-pool.ts'
import { prove } from '../../rollover/simulated/carry-out.ts'
import { pass } from '../../rollover/simulated/environment.ts'
import { brokenInvariants, cutOff } from '../../rollover/simulated/invariants.ts'
import { type Mutation, none } from '../../rollover/simulated/mutations.ts'
import {
  type Orchestrator,
  type RunFaults,
  runOnce,
  twoOrchestrators,
} from '../../rollover/simulated/orchestrator.ts'
import { addMember, beginNext, lastGeneration, newWorld, type World } from '../../rollover/simulated/world.ts'
import type { SeededRandom } from '../simulated/random.ts'
import { FleetAuthorities } from './authorities.ts'
import { FleetBundles } from './bundles.ts'
import { FleetIssuing } from './issuing.ts'

const minute = 60_000
const day = 86_400_000
/** How often the orchestrator looks, by the simulated clock. */
export const turnEvery = 3 * minute

export interface RolloverFleetOptions {
  nodes: number
  role: TrustRole
  random: SeededRandom
  reason?: RotationReason
  policy?: RotationPolicySpec
  mutation?: Mutation
  /** CAs that are trusted in advance, each with its bundles signed; none: the roots meet when a rotation asks for it. */
  standbys?: number
  algorithm?(generation: number): KeyAlgorithm
  /** How long the first CA lives from the beginning on, in milliseconds. */
  firstLife?: number
  /** Whether there are others than nodes: a pod, somebody's laptop, what the model check has. */
  outsiders?: boolean
}

export class RolloverFleet {
  readonly world: World
  readonly authorities: FleetAuthorities
  readonly bundles: FleetBundles
  readonly issuing: FleetIssuing
  /** Nodes that lived and could not talk to some API server, at any time. */
  readonly lost = new Set<string>()
  /** Invariants that broke, the first of each kind first. */
  readonly broken: string[] = []
  readonly #options: RolloverFleetOptions
  #meeting = false
  leader: Orchestrator = twoOrchestrators()[0]
  turns = 0

  private constructor(options: RolloverFleetOptions, authorities: FleetAuthorities, bundles: FleetBundles) {
    const { role, random, reason = 'Scheduled', policy } = options
    this.#options = options
    this.authorities = authorities
    this.bundles = bundles
    this.issuing = new FleetIssuing(role, authorities, random.stream('issuing'))
    this.world = newWorld({
      pool: authorities,
      role,
      reason,
      ...(policy && { policy }),
      nodes: 0,
      outsiders: options.outsiders ?? false,
      bundles: [],
      ends: authority => authorities.get(authority)?.certificate.notAfter ?? authorities.now + 3650 * day,
      hooks: {
        issued: (member, leaf) => this.issuing.ask(member, leaf),
        takes: (member, generation) => bundles.accepts(generation, member.disk),
        ceremony: () => {
          this.#meeting = true
        },
      },
    })
  }

  static async create(options: RolloverFleetOptions): Promise<RolloverFleet> {
    const { role, random, algorithm, standbys = 0, firstLife = 3650 * day } = options
    const authorities = new FleetAuthorities({
      role,
      random: random.stream('authorities'),
      ...(algorithm && { algorithm }),
    })
    authorities.now = poolTime
    const fleet = new RolloverFleet(
      options,
      authorities,
      new FleetBundles(role, authorities, random.stream('roots')),
    )
    await authorities.make(1, firstLife)
    await fleet.ceremony(standbys)
    for (let index = 1; index <= options.nodes; index += 1) fleet.join(`node-${index}`)
    for (let index = 1; index <= options.nodes / 20; index += 1) fleet.#pod(`pod-${index}`)
    await fleet.settle()
    return fleet
  }

  /** The trust roots meet: they sign for the CA that signs now and this many after it, which are made before. */
  async ceremony(standbys: number): Promise<void> {
    const { world, authorities } = this
    const current = this.current
    const generations = Array.from({ length: standbys + 1 }, (_, index) => current + index)
    for (const generation of generations) {
      await authorities.make(generation)
      world.keys.add(generation)
    }
    const facts = await this.bundles.ceremony(generations, lastGeneration(world))
    world.bundles = [...world.bundles, ...facts]
  }

  /** The CA in charge: that of the last rotation which was done, or that one begins with. */
  get current(): number {
    const { phase, from, to } = this.world.store.plan
    return phase === 'Done' ? to : from
  }

  get isOver(): boolean {
    return finalPhases.has(this.world.store.plan.phase)
  }

  /** A machine comes with what seeds give it. */
  join(name: string): void {
    const { world } = this
    const hot = world.role !== 'apiserver-serving'
    const verifies = world.role !== 'kubelet-serving'
    addMember(world, { id: `kubelet/${name}`, kind: 'Kubelet', reloads: hot, orderable: true, verifies })
    if (!hot) addMember(world, { id: `agent/${name}`, kind: 'Agent', reloads: true, orderable: true })
  }

  #pod(id: string): void {
    if (this.world.role === 'apiserver-serving')
      addMember(this.world, { id, kind: 'Pod', reloads: false, orderable: false })
  }

  /** One turn of the orchestrator, and what follows from it at once. */
  async turn(faults: RunFaults = {}): Promise<void> {
    const { world } = this
    this.turns += 1
    this.#everybodyReports()
    runOnce(world, this.leader, this.#options.mutation ?? none, faults)
    await this.settle()
    this.#look()
  }

  /** Makes what was ordered: CAs, bridges, certificates. */
  async settle(): Promise<void> {
    const { world, authorities } = this
    for (const authority of world.keys) if (authority >= this.current) await authorities.make(authority)
    if (world.crossSigned.size > 0) await authorities.bridge(world.store.plan.to)
    // Roots sign for a CA that is there, and come when they are asked.
    if (this.#meeting && world.keys.has(this.current + 1)) await this.ceremony(1)
    this.#meeting = false
    await this.issuing.signAll(world)
  }

  /** Time goes on for everybody. */
  wait(milliseconds: number = turnEvery): void {
    pass(this.world, milliseconds)
    this.authorities.now = this.world.now
    this.#podsRestart()
  }

  /** Turns until the rotation is over, or `turns` of them. `before` each, whatever else happens in the fleet. */
  async run({ turns = 5000, before = async () => {} }: RunOptions = {}): Promise<void> {
    for (let turn = 0; turn < turns && !this.isOver; turn += 1) {
      await before(turn)
      await this.turn()
      this.wait()
    }
  }

  /** From the CA in charge to the next, with what the roots have signed already. Forgets what nobody uses any longer. */
  next(): void {
    const { world, authorities, bundles } = this
    beginNext(world, () => {})
    const { from } = world.store.plan
    const used = [...world.sinks, ...world.members.map(({ disk: generation }) => ({ generation }))]
    const lowest = used.reduce((least, { generation }) => Math.min(least, generation), lastGeneration(world))
    world.bundles = world.bundles.filter(({ generation }) => generation >= lowest)
    bundles.forgetBefore(lowest)
    authorities.forgetBefore(from - 1)
    for (const key of world.keys) if (key < from - 1) world.keys.delete(key)
    world.crossSigned.clear()
  }

  /** Agents tell in their Leases what changed, and that it is still so, well within the age that proofs may have. */
  #everybodyReports(): void {
    const { world } = this
    for (const member of world.members) {
      if (!member.online || member.gone || member.restarting) continue
      const { proof, instance, loaded } = member
      const told = proof?.instance === String(instance) && proof.generation === loaded
      if (!told || world.now - proof.at > 6 * 60 * minute) prove(world, member, 2, world.store.plan.to)
    }
  }

  /** Whoever runs pods restarts them within the hour after their file changed; nothing orders it. */
  #podsRestart(): void {
    const { world } = this
    for (const member of world.members) {
      if (member.kind !== 'Pod') continue
      member.disk = Math.max(member.disk, world.sinks[0]?.generation ?? 0)
      if (member.loaded >= member.disk || this.#options.random.float() > turnEvery / (60 * minute)) continue
      member.instance += 1
      member.loaded = member.disk
    }
  }

  #look(): void {
    const { world, broken } = this
    for (const { member } of cutOff(world)) if (!member.startsWith('pod-')) this.lost.add(nodeOf(member))
    if (broken.length < 20) broken.push(...brokenInvariants(world).slice(0, 3))
  }
}

export interface RunOptions {
  turns?: number
  before?(turn: number): Promise<void>
}

export function nodeOf(id: string): string {
  return id.slice(id.indexOf('/') + 1)
}
