/** What the embedded API presents, trusts and signs with now, as its state says: all of it changes while it runs. */
import { isDeepStrictEqual } from 'node:util'
import type { ChainChoice, ServedChain } from '../../apiserver/http/chain-choice.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { Clock, Log, Random } from '../../ports.ts'
import type { ChainMode } from '../../rollover/observations.ts'
import type { AuthoritySource } from '../../sign/authority.ts'
import { probedAuthority, probeName } from '../../trust/node-orders.ts'
import { apiServiceAddress, apiserverDnsNames, identities } from '../identities.ts'
import { type CertificateAuthority, issuePair, type KeyPair } from '../issue-pair.ts'
import { leafLifetime, type Pki } from '../pki.ts'
import type { CaStore } from './ca-store.ts'
import { type ApiState, decodeState, type RoleState } from './role-state.ts'
import { chainId, SeenConsumers } from './seen-consumers.ts'
import type { KnownBundle } from './signed-bundles.ts'

export interface EmbeddedTrustOptions {
  cas: CaStore
  pki: Pki
  /** Addresses that the API is reached at. */
  addresses: readonly string[]
  /** The state that should be in force, as the API has it now. */
  stored(): ApiState
  /** Signed bundles of a role, as they are now. */
  bundles(role: TrustRole): ReadonlyMap<number, KnownBundle>
  clock: Clock
  random: Random
  log: Log
}

/** Strangers are shown the bare chain of this CA until they have proven themselves, until one refuses it, until then. */
export interface Canary {
  authority: number
  until: number
  /** Ids of those who are waited for: nobody else is asked. */
  wanted: ReadonlySet<string>
  /** Milliseconds for which an address is left alone, on average, after somebody there did not trust it. */
  retry: number
}

export class EmbeddedTrust {
  readonly seen: SeenConsumers
  readonly #options: EmbeddedTrustOptions
  readonly #leaves = new Map<number, KeyPair>()
  readonly #chains = new Map<string, ServedChain>()
  readonly #listeners = new Set<(before: ApiState) => void>()
  #prepare: (next: ApiState) => Promise<void> = async () => {}
  readonly #canaryNext = new Map<string, number>()
  #state: ApiState = decodeState(undefined)
  #since = 0
  #canary: Canary | undefined
  #ownProbes = 0
  #following: Promise<void> = Promise.resolve()

  constructor(options: EmbeddedTrustOptions) {
    this.#options = options
    this.seen = new SeenConsumers(leaf => options.cas.issuerOf('client', leaf))
    this.#since = options.clock.now()
    this.#leaves.set(1, options.pki.apiserver)
  }

  get state(): ApiState {
    return this.#state
  }

  role(role: TrustRole): RoleState {
    return this.#state[role]
  }

  /** Milliseconds since the epoch. */
  get presentsSince(): number {
    return this.#since
  }

  /**
   * Puts in force what is stored, one call after the other, each what is stored when its turn comes: whoever is told late of
   * an older state cannot bring it back. Rejects when a chain or a credential cannot be made; then all stays as it was.
   */
  follow(): Promise<void> {
    const turn = this.#following.then(() => this.#apply(this.#options.stored()))
    this.#following = turn.catch(() => {}) // who asked is told
    return turn
  }

  async #apply(next: ApiState): Promise<void> {
    const before = this.#state
    if (this.#chains.size > 0 && isDeepStrictEqual(next, before)) return
    const { authority, mode } = next['apiserver-serving'].present
    await this.#makeChain(authority, mode)
    await this.#prepare(next)
    const { authority: old, mode: oldMode } = before['apiserver-serving'].present
    this.#state = next
    if (authority !== old || mode !== oldMode) this.#since = this.#options.clock.now()
    for (const listener of [...this.#listeners]) listener(before)
  }

  /** Done before a state is in force. */
  beforeApplied(prepare: (next: ApiState) => Promise<void>): void {
    this.#prepare = prepare
  }

  onApplied(listener: (before: ApiState) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The bundles that are in force hold something else than before, as at the first start: whoever goes by them is told. */
  bundlesChanged(): void {
    for (const listener of [...this.#listeners]) listener(this.#state)
  }

  /** PEM of the bundle by which peers of the role are judged. */
  judgedBy(role: TrustRole): string {
    return this.#pem(role, this.role(role).judgesBy)
  }

  /** PEM that a place holds which consumers of the role take trust from. */
  inSink(role: TrustRole, id: string): string {
    const { sinks, bundle } = this.role(role)
    return this.#pem(role, sinks[id] ?? bundle)
  }

  /** CAs of the role by which its peers are judged in a state. */
  accepted(role: TrustRole, state: ApiState): readonly number[] {
    return this.#options.bundles(role).get(state[role].judgesBy)?.anchors ?? [1]
  }

  /** The CA that signs leaves of the role now. */
  signing(role: TrustRole): CertificateAuthority | undefined {
    const { authority } = this.role(role).sign
    return authority === undefined ? undefined : this.#options.cas.authority(role, authority)
  }

  /** The same for the signing controller, which is told when it changes. */
  source(role: TrustRole): AuthoritySource {
    return {
      current: () => this.signing(role),
      problem: () => (this.signing(role) ? undefined : 'a rollover has taken the pointer from the CA'),
      onChange: run =>
        this.onApplied(before => before[role].sign.authority !== this.role(role).sign.authority && run()),
    }
  }

  /** A chain of the CA for the API server; also the one that a probe asks for by name. */
  async prepareChain(authority: number, mode: ChainMode): Promise<void> {
    await this.#makeChain(authority, mode)
  }

  /** Strangers prove themselves at the real endpoint. */
  canary(canary: Canary): void {
    this.#canary = canary
  }

  /** What the control plane itself connects for meanwhile is no stranger. */
  async asItself<T>(work: () => Promise<T>): Promise<T> {
    this.#ownProbes += 1
    try {
      return await work()
    } finally {
      this.#ownProbes -= 1
    }
  }

  readonly choice: ChainChoice = {
    forConnection: address => this.#chainFor(address),
    forName: name => {
      const authority = probedAuthority(name)
      return authority === undefined ? undefined : this.#chains.get(chainId(authority, 'bare'))
    },
    clientCertificateAuthorities: () => this.judgedBy('client'),
    ended: (address, id, asked) => {
      const now = this.#options.clock.now()
      const canary = this.#canary
      if (asked || !canary || id !== chainId(canary.authority, 'bare')) return
      if (id === this.#presentedId() || this.#ownProbes > 0) return
      // By chance: who comes at regular times would for ever come first, or never, to be asked.
      this.#canaryNext.set(address, now + 2 * canary.retry * this.#options.random.float())
      this.seen.refused(address, canary.authority, now)
    },
  }

  #chainFor(address: string): ServedChain {
    const canary = this.#canaryFor(address)
    const chain = this.#chains.get(canary ?? this.#presentedId())
    if (!chain) throw new RangeError('no chain was made before the first connection')
    return chain
  }

  #canaryFor(address: string): string | undefined {
    const now = this.#options.clock.now()
    const canary = this.#canary
    if (!canary || canary.until < now || this.#ownProbes > 0) return undefined
    if ((this.#canaryNext.get(address) ?? 0) > now) return undefined
    if (!this.seen.unproven(address, canary.authority).some(one => canary.wanted.has(one.id)))
      return undefined
    const id = chainId(canary.authority, 'bare')
    return this.#chains.has(id) ? id : undefined
  }

  #presentedId(): string {
    const { authority, mode } = this.role('apiserver-serving').present
    return chainId(authority, mode)
  }

  #pem(role: TrustRole, generation: number): string {
    return this.#options.bundles(role).get(generation)?.pem ?? this.#options.pki.ca.pem
  }

  /** Makes the chains anew, each leaf too. The one before is served until then: connections come at any moment. */
  async keepLeaves(): Promise<void> {
    this.#leaves.clear()
    this.#leaves.set(1, this.#options.pki.apiserver)
    const failures: unknown[] = []
    for (const id of [...this.#chains.keys()]) {
      const [authority, mode] = id.split('/')
      try {
        this.#chains.set(id, await this.#chain(Number(authority), mode as ChainMode))
      } catch (error) {
        failures.push(error) // others are made all the same; who asked is told
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  async #makeChain(authority: number, mode: ChainMode): Promise<void> {
    const id = chainId(authority, mode)
    if (!this.#chains.has(id)) this.#chains.set(id, await this.#chain(authority, mode))
  }

  async #chain(authority: number, mode: ChainMode): Promise<ServedChain> {
    const { cas } = this.#options
    // The first CA's own pair has no name to be probed by.
    const { certificate, key } =
      authority === 1 && mode === 'old' ? this.#options.pki.apiserver : await this.#leaf(authority)
    const cross = mode === 'bridged' ? cas.newestCross('apiserver-serving', authority) : ''
    if (cross === undefined) throw new RangeError(`CA ${authority} is signed by no other`)
    // A bare chain is shown for the proof that a whole handshake with it is.
    const resumable = mode !== 'bare'
    return { id: chainId(authority, mode), certificate: certificate + cross, key, resumable }
  }

  async #leaf(authority: number): Promise<KeyPair> {
    const known = authority === 1 ? undefined : this.#leaves.get(authority)
    if (known) return known
    const { cas, clock, random, addresses } = this.#options
    // Somebody else may have made it meanwhile.
    if (!cas.authority('apiserver-serving', authority)) await cas.load()
    const ca = cas.authority('apiserver-serving', authority)
    if (!ca) throw new RangeError(`there is no CA ${authority} for the API server`)
    const pair = await issuePair(
      ca,
      {
        ...identities.apiserverServing,
        usage: 'server auth',
        dnsNames: [...apiserverDnsNames, probeName(authority)],
        ipAddresses: [apiServiceAddress, ...addresses],
        lifetime: leafLifetime,
        now: clock.now(),
      },
      random,
    )
    if (authority !== 1) this.#leaves.set(authority, pair)
    return pair
  }
}
