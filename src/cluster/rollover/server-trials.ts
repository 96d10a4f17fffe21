/** What the embedded API was tried with, and how it came out; each result holds while nothing changes that it depends on. */
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { ServerFacts } from '../../rollover/observations.ts'
import { probeName } from '../../trust/node-orders.ts'
import { issuePair } from '../issue-pair.ts'
import { dial } from './dial.ts'
import type { EmbeddedControl } from './embedded-control.ts'
import { isAcceptedKubelet, isVerified, type Place, statusFor } from './handshakes.ts'
import { canaryUser } from './seen-consumers.ts'

/** Milliseconds that a result is used. */
const fresh = 10_000

export class ServerTrials {
  readonly #control: EmbeddedControl
  readonly #role: TrustRole
  readonly #results = new Map<string, { at: number; result: boolean }>()
  readonly #whys = new Map<string, string>()

  constructor(control: EmbeddedControl, role: TrustRole) {
    this.#control = control
    this.#role = role
  }

  /** Whether the API accepts a certificate of this CA, presented to it in a handshake of its own. */
  accepts(authority: number): Promise<boolean> {
    const { judgesBy } = this.#control.trust.role(this.#role)
    return this.#tried(`accepts ${authority} by ${judgesBy}`, () => this.#present(authority, true))
  }

  /** L4: whether it refuses it. No answer is no refusal. */
  refuses(authority: number): Promise<boolean> {
    const { judgesBy } = this.#control.trust.role(this.#role)
    return this.#tried(`refuses ${authority} by ${judgesBy}`, () => this.#present(authority, false))
  }

  /** Handshakes with what is served now, by who trusts only the one CA, only the other, or both. */
  async probes(from: number, to: number): Promise<NonNullable<ServerFacts['probes']>> {
    const { cas, trust } = this.#control
    const { authority, mode } = trust.role('apiserver-serving').present
    const served = `${authority}/${mode} since ${trust.presentsSince}`
    const pem = (...generations: number[]) =>
      generations.map(generation => cas.authority('apiserver-serving', generation)?.pem ?? '').join('')
    const probe = (name: string, authorities: string) =>
      this.#tried(`${served} by ${name}`, () => this.#verified(authorities))
    return {
      oldOnly: await probe(`${from}`, pem(from)),
      newOnly: await probe(`${to}`, pem(to)),
      both: await probe(`${from}+${to}`, pem(from, to)),
    }
  }

  /** Why a machine that trusts these CAs (PEM), and no other, is not let through to what is served now; undefined: it is. */
  async dialled(authorities: string): Promise<string | undefined> {
    const { trust, place, clock } = this.#control
    const { authority, mode } = trust.role('apiserver-serving').present
    const key = `${authority}/${mode} since ${trust.presentsSince} dialled by ${authorities}`
    await this.#tried(key, async () => {
      const why = await trust.asItself(() => dial(place, authorities, clock))
      if (why === undefined) this.#whys.delete(key)
      else this.#whys.set(key, why)
      return why === undefined
    })
    return this.#whys.get(key)
  }

  /** Whether a leaf that the CA issued just now is taken. */
  async canary(authority: number): Promise<boolean> {
    if (this.#role !== 'apiserver-serving') return this.accepts(authority)
    const { cas, trust } = this.#control
    await trust.prepareChain(authority, 'bare')
    const pem = cas.authority(this.#role, authority)?.pem ?? ''
    return this.#tried(`canary ${authority}`, () => this.#verified(pem, probeName(authority)))
  }

  async #present(authority: number, wanted: boolean): Promise<boolean> {
    const { cas, clock, random, place, kubelets } = this.#control
    const ca = cas.authority(this.#role, authority)
    if (!ca) return false
    if (this.#role === 'kubelet-serving')
      return (await isAcceptedKubelet(ca, kubelets, { clock, random })) === wanted
    const status = await canaryStatus(this.#control, authority, place, '/version')
    return status === (wanted ? 200 : 401)
  }

  #verified(authorities: string, name?: string): Promise<boolean> {
    const { trust, place, clock } = this.#control
    return trust.asItself(() => isVerified(place, authorities, clock, name))
  }

  async #tried(key: string, trial: () => Promise<boolean>): Promise<boolean> {
    const { clock } = this.#control
    const known = this.#results.get(key)
    if (known && clock.monotonic() - known.at < (known.result ? fresh : fresh / 20)) return known.result
    const result = await trial()
    this.#results.set(key, { at: clock.monotonic(), result })
    return result
  }
}

/** What a place answers to a client certificate of this CA that stands for nobody. */
export async function canaryStatus(
  { cas, clock, random, trust }: EmbeddedControl,
  authority: number,
  place: Place,
  path: string,
): Promise<number | undefined> {
  const ca = cas.authority('client', authority)
  if (!ca) return undefined
  const identity = { commonName: canaryUser, organizations: [] }
  const times = { lifetime: 3_600_000, now: clock.now() }
  const pair = await issuePair(ca, { ...identity, usage: 'client auth', ...times }, random)
  return trust.asItself(() => statusFor(place, path, pair, clock))
}
