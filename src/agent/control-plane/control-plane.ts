/**
 * The node side of a change of CAs on a control plane that kubeadm made. Orders say how it should be; what that means for
 * files, flags and restarts is decided here. One step at a time, each written down before it is made, tried, and undone when
 * the control plane does not come up with it; for that no API has to be there.
 */
import { posix } from 'node:path'
import { hasCode, RollcallError } from '../../errors.ts'
import { newSealingKey, type SealingKey } from '../../keys/sealed.ts'
import type { Signer } from '../../keys/signer.ts'
import type { KubeClient } from '../../kube/client.ts'
import { type TrustBundleObject, trustBundle } from '../../kube/rollcall/trust-bundle.ts'
import type { Connect } from '../../kube/transport.ts'
import type { KubeNode } from '../../kube/types.ts'
import { takeLock } from '../../pods/state/agent-lock.ts'
import { stateFolderProblem } from '../../pods/state/state-folder.ts'
import { type Clock, type Disk, type Log, type Net, type Random, sleep } from '../../ports.ts'
import { signedBundleOf } from '../../trust/bundle-object.ts'
import {
  type ControlPlaneOrders,
  controlPlaneAnnotation,
  decodeControlPlaneOrders,
  sealedAbout,
} from '../../trust/control-plane-orders.ts'
import { type ControlPlaneRole, controlPlaneRoles } from '../../trust/control-plane-report.ts'
import { proveSeal, type SealProof } from '../../trust/seal-proof.ts'
import { decodeTrustRoots } from '../../trust/trust-roots.ts'
import { Authorities } from './authorities.ts'
import { type Goal, goalOf, isOlder, isSame, neededKeys, type RoleGoal } from './goal.ts'
import { type HealthParts, type Instances, instancesOf, whyNotUp } from './health.ts'
import { KeptBundles } from './kept-bundles.ts'
import { type Layout, layoutOf } from './layout.ts'
import { nodeIdentity } from './node-identity.ts'
import { earliestEnd } from './own-certificates.ts'
import type { ComponentProcesses } from './processes.ts'
import { reportOf } from './report-of.ts'
import { StandingOrders } from './standing-orders.ts'
import { changesFor, type StepParts } from './step-files.ts'
import { type OpenStep, readText, StepJournal } from './step-journal.ts'

export interface ControlPlaneOptions {
  nodeName: string
  /** kubeadm's folder, `/etc/kubernetes`. */
  root: string
  /** Where the agent keeps what it was ordered and what is under way (0700). */
  stateDirectory: string
  /** The pinned trust roots. */
  rootsPath: string
  /** Milliseconds in which the control plane has to come up with a step; default five minutes. */
  patience?: number
}

export interface ControlPlanePorts {
  clock: Clock
  disk: Disk
  random: Random
  log: Log
  connect: Connect
  net: Pick<Net, 'http'>
  processes: ComponentProcesses
}

export interface ControlPlaneParts {
  /** The API under the node's own certificate. */
  client: KubeClient
  /** The node's client certificate with its key; undefined: none now, or its key is in a token. */
  identity(): { chain: string; signer: Signer } | undefined
  /** What the report says has changed. */
  onReport(): void
}

/** What a step is judged by. */
interface StepFacts {
  from: Goal
  to: Goal
  /** Processes that must be gone when it is done. */
  old: Instances
}

/** Milliseconds between two looks: while a step is under way, and while nothing is. A real one re-reads files each minute. */
const busy = 1000
const idle = 10_000
const fiveMinutes = 300_000

export class ControlPlane {
  readonly #options: ControlPlaneOptions
  readonly #ports: ControlPlanePorts
  readonly #parts: ControlPlaneParts
  readonly #layout: Layout
  readonly #authorities: Authorities
  readonly #bundles: KeptBundles
  readonly #orders: StandingOrders
  readonly #journal: StepJournal<StepFacts>
  readonly #seal: SealingKey
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()
  #wake = new AbortController()
  #node: { name: string; uid: string } | undefined
  #sealed: Partial<Record<ControlPlaneRole, ControlPlaneOrders['sealed']>> = {}
  #proof: SealProof | undefined
  #proofAbout = ''
  #instances: Instances = {}
  /** What is in the way, where something is. */
  #trouble: string | undefined
  #settled = false
  #healthy = false
  /** When the first of the certificates that were made here ends. */
  #ends: number | undefined
  #said = ''

  constructor(options: ControlPlaneOptions, ports: ControlPlanePorts, parts: ControlPlaneParts) {
    const { disk } = ports
    const { root, stateDirectory } = options
    this.#options = options
    this.#ports = ports
    this.#parts = parts
    this.#layout = layoutOf(root)
    this.#authorities = new Authorities(disk, this.#layout)
    this.#bundles = new KeptBundles(disk, posix.join(stateDirectory, 'bundles'))
    this.#orders = new StandingOrders(disk, stateDirectory)
    this.#journal = new StepJournal(disk, posix.join(stateDirectory, 'step'))
    this.#seal = newSealingKey(ports.random)
  }

  start(): void {
    this.#running = this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#wake.abort()
    await this.#running
  }

  /** Our Node as the API shows it. */
  seen(node: KubeNode | undefined): void {
    if (!node) return
    const { name, uid = '', annotations = {} } = node.metadata
    const orders = controlPlaneRoles.map(role => annotations[controlPlaneAnnotation(role)])
    const isSame = this.#node?.uid === uid && orders.every((text, index) => text === this.#received[index])
    this.#node = { name, uid }
    this.#received = orders
    // A Node changes each few minutes by itself.
    if (!isSame) this.#wake.abort()
  }

  /** By role. */
  #received: readonly (string | undefined)[] = []

  /** Of the node's own Lease. */
  annotations(): Record<string, string> {
    const { standing } = this.#orders
    return reportOf({
      standing,
      settled: this.#settled,
      healthy: this.#healthy,
      ends: this.#ends,
      trouble: this.#trouble,
      instances: this.#instances,
      authorities: this.#authorities,
      seal: this.#seal.publicKey,
      proof: this.#proof,
      now: this.#ports.clock.now(),
    })
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#ports
    while (!this.#stopping.signal.aborted) {
      this.#wake = new AbortController()
      try {
        await this.#turn()
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        const waits = hasCode(error, 'CONTROL_PLANE_ORDER_REFUSED')
        if (why !== this.#trouble && waits)
          log.warn('orders to the control plane are not carried out', { why })
        else if (why !== this.#trouble) log.error('the control plane cannot be looked after', { why })
        this.#trouble = why
        this.#settled = false
        await this.#look()
      }
      this.#tell()
      await sleep(clock, this.#settled ? idle : busy, this.#wake.signal)
    }
  }

  #loaded = false

  async #load(): Promise<void> {
    if (this.#loaded) return
    const { disk } = this.#ports
    const { root, stateDirectory, rootsPath } = this.#options
    await disk.makeDirectory(stateDirectory, 0o700)
    const problem = await stateFolderProblem(stateDirectory, (await disk.stat(root)).owner, disk)
    if (problem !== undefined)
      throw new RollcallError(
        'CONTROL_PLANE_UNFIT',
        `${problem}; what lies there says which files are written. Give --control-plane-state a folder of its own.`,
      )
    // Two would write one journal, each over what the other has begun.
    await takeLock(`${stateDirectory}/agent`, disk, 'CONTROL_PLANE_UNFIT')
    const roots = decodeTrustRoots((await readText(disk, rootsPath)) ?? '')
    if (!roots)
      throw new RollcallError('TRUST_BUNDLE_REFUSED', `${rootsPath} holds no trust roots; nothing is obeyed.`)
    await this.#bundles.load(roots)
    await this.#authorities.load()
    await this.#orders.load()
    await this.#journal.tidy()
    this.#loaded = true
  }

  async #turn(): Promise<void> {
    await this.#load()
    const open = await this.#journal.open()
    if (open) return this.#finish(open)
    await this.#takeOrders()
    await this.#proveSeal()
    const { standing } = this.#orders
    for (const role of controlPlaneRoles) await this.#makeReady(role, standing.ordered[role])
    const to = this.#nextGoal()
    const changes = await changesFor(to, this.#stepParts())
    if (changes.length === 0) return this.#judge(to)
    this.#settled = false
    const old = await this.#toBeGone(changes.map(({ path }) => path))
    const step = await this.#journal.begin(changes, { from: standing.inForce, to, old })
    this.#ports.log.info('a step of the control plane begins', { files: changes.map(({ path }) => path) })
    return this.#finish(step)
  }

  /** Orders that are newer, and that anything may be asked by, stand from now on. */
  async #takeOrders(): Promise<void> {
    const received = this.#received
    for (const [index, role] of controlPlaneRoles.entries()) {
      const orders = decodeControlPlaneOrders(received[index])
      if (!orders) continue
      this.#sealed = { ...this.#sealed, [role]: orders.sealed }
      const { ordered, inForce, crosses } = this.#orders.standing
      const before = ordered[role]
      if (before && isOlder(orders, before)) continue
      // I5: what is trusted here goes forward alone; the way back has a number of its own.
      if (orders.trust < (inForce[role]?.trust ?? 0))
        throw refused(`bundle ${orders.trust} of ${role} is older than the one in force`)
      const goal = goalOf(orders)
      if (before && JSON.stringify(before) === JSON.stringify(goal)) continue
      const known = { ...crosses, ...orders.crosses }
      const orderedAt = this.#ports.clock.now()
      await this.#orders.change({ ordered: { ...ordered, [role]: goal }, crosses: known, orderedAt })
      this.#settled = false
    }
  }

  /** The bundle and the keys that a goal needs are on this node, by what trust roots have signed; else it waits. */
  async #makeReady(role: ControlPlaneRole, goal: RoleGoal | undefined): Promise<void> {
    if (!goal) return
    if (!this.#bundles.has(role, goal.trust)) await this.#fetchBundle(role, goal.trust)
    for (const id of neededKeys(goal)) {
      // A CA that was dropped is shown to nobody but those who ask by its name, to see that they refuse it.
      const isProbed =
        goal.probes?.some(({ authority }) => authority === id) && id !== goal.present?.authority
      const anchor = isProbed
        ? this.#bundles.everTrusted(role, id)
        : this.#bundles.anchor(role, goal.trust, id)
      // The one thing that no online key can do: name a CA that the roots have not signed for.
      if (!anchor) throw refused(`CA ${id} is in no signed bundle ${goal.trust} of ${role}`)
      const sealed = this.#sealed[role]?.[id]
      if (this.#authorities.get(role, id) || sealed === undefined || !this.#node) continue
      const bytes = new Uint8Array(Buffer.from(sealed, 'base64'))
      const key = this.#seal.open(bytes, sealedAbout(role, id, this.#node))
      await this.#authorities.keep(role, anchor, key)
    }
  }

  async #fetchBundle(role: ControlPlaneRole, generation: number): Promise<void> {
    const { client } = this.#parts
    const object = await client.get<TrustBundleObject>(trustBundle.ref, { name: `${role}-${generation}` })
    await this.#bundles.take(role, generation, signedBundleOf(object), this.#ports.clock.now())
  }

  /** Orders wait: is all as it was brought about last? */
  async #look(): Promise<void> {
    try {
      this.#healthy = (await whyNotUp(this.#orders.standing.inForce, {}, this.#healthParts())) === undefined
    } catch {
      this.#healthy = false // what cannot be looked at is not known to be well; what was in the way is told already
    }
  }

  /** What stands, but for what was tried in vain. */
  #nextGoal(): Goal {
    const { ordered, inForce, undone } = this.#orders.standing
    const roles = controlPlaneRoles.flatMap(role => {
      const wanted = ordered[role]
      const failed = undone[role]
      const inVain = wanted && failed && !isOlder(failed, wanted)
      const goal = inVain ? inForce[role] : wanted
      return goal ? [[role, goal] as const] : []
    })
    return Object.fromEntries(roles)
  }

  /** Nothing has to be written: is it so, too? */
  async #judge(goal: Goal): Promise<void> {
    const parts = this.#healthParts()
    this.#instances = await instancesOf(parts)
    this.#trouble = await whyNotUp(goal, {}, parts)
    this.#settled = this.#trouble === undefined
    this.#healthy = this.#settled
    const { inForce } = this.#orders.standing
    const isKnown = JSON.stringify(inForce) === JSON.stringify(goal)
    if (this.#settled && !isKnown) await this.#putInForce(goal)
    this.#ends = await earliestEnd(goal, this.#layout, path => readText(this.#ports.disk, path))
  }

  async #finish(opened: OpenStep<StepFacts>): Promise<void> {
    const { clock, log } = this.#ports
    const { patience = fiveMinutes } = this.#options
    let step = opened
    let until = clock.monotonic() + patience
    await this.#journal.carryOut(step)
    for (;;) {
      const { facts, direction } = step
      const doing = direction === 'Doing'
      const parts = this.#healthParts()
      this.#trouble = doing
        ? await whyNotUp(facts.to, facts.old, parts)
        : await whyNotUp(facts.from, {}, parts)
      this.#instances = await instancesOf(parts)
      this.#healthy = this.#trouble === undefined
      if (this.#healthy) break
      this.#tell()
      if (this.#stopping.signal.aborted) return
      if (doing && clock.monotonic() >= until) {
        const why = this.#trouble ?? 'it did not come up'
        log.error('a step of the control plane is undone', { why })
        step = await this.#journal.turnBack(step, why)
        await this.#journal.carryOut(step)
        until = clock.monotonic() + patience
      }
      await sleep(clock, busy, this.#stopping.signal)
    }
    if (step.direction === 'Doing') await this.#putInForce(step.facts.to)
    else await this.#noteUndone(step)
    await this.#journal.close()
    log.info('a step of the control plane is over', { direction: step.direction })
  }

  async #putInForce(goal: Goal): Promise<void> {
    const { inForce, presentsSince } = this.#orders.standing
    const before = inForce['apiserver-serving']?.present
    const after = goal['apiserver-serving']?.present
    const same = JSON.stringify(before) === JSON.stringify(after)
    await this.#orders.change({
      inForce: goal,
      presentsSince: same ? presentsSince : Math.floor(this.#ports.clock.now()),
    })
  }

  async #noteUndone({ facts, why = 'it did not come up' }: OpenStep<StepFacts>): Promise<void> {
    const changed = controlPlaneRoles.filter(role => !isSame(facts.from[role], facts.to[role]))
    const failed = changed.flatMap(role => {
      const { token = 0, sequence = 0 } = facts.to[role] ?? {}
      return [[role, { token, sequence, why }] as const]
    })
    const { undone } = this.#orders.standing
    await this.#orders.change({ undone: { ...undone, ...Object.fromEntries(failed) } })
  }

  /** Processes of the components whose manifest changes: a kubelet starts another in their place. */
  async #toBeGone(paths: readonly string[]): Promise<Instances> {
    const all = await instancesOf(this.#healthParts())
    const changed = Object.entries(all).filter(([component]) =>
      paths.includes(this.#layout.manifest(component as keyof Instances)),
    )
    return Object.fromEntries(changed)
  }

  async #proveSeal(): Promise<void> {
    const identity = this.#parts.identity()
    if (!identity || !this.#node) return
    // A Node that was made anew is another one, of the same name.
    const about = `${this.#node.uid} ${identity.chain}`
    if (this.#proofAbout === about) return
    const seal = Buffer.from(this.#seal.publicKey).toString('base64')
    const own = await nodeIdentity(this.#options.stateDirectory, this.#ports)
    this.#proof = await proveSeal(seal, this.#node, { ...identity, identity: own })
    this.#proofAbout = about
  }

  #stepParts(): StepParts {
    const { disk, clock, random } = this.#ports
    return {
      disk,
      random,
      layout: this.#layout,
      authorities: this.#authorities,
      now: clock.now(),
      orderedAt: this.#orders.standing.orderedAt,
      bundle: (role, generation) => this.#bundles.pem(role, generation),
      cross: id => this.#orders.standing.crosses[id],
    }
  }

  #healthParts(): HealthParts {
    return {
      ...this.#ports,
      layout: this.#layout,
      authorities: this.#authorities,
      read: path => readText(this.#ports.disk, path),
      bundle: (role, generation) => this.#bundles.pem(role, generation),
    }
  }

  /** Said at once when something has changed, beside what each beat says. */
  #tell(): void {
    const text = Object.values(this.annotations())
      .join()
      .replace(/"seenAt":\d+/, '')
    if (text === this.#said) return
    this.#said = text
    this.#parts.onReport()
  }
}

function refused(why: string): RollcallError {
  return new RollcallError(
    'CONTROL_PLANE_ORDER_REFUSED',
    `An order to the control plane is not obeyed: ${why}.`,
  )
}
