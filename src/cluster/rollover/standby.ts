/**
 * P7: the CA that comes next is made in time of peace, signed for by the trust roots, and trusted beside the one in charge
 * everywhere. A rotation then begins with trust that is there already; an emergency switches to it at once (3.8 E1).
 */
import type { CARotationObject } from '../../kube/rollcall/ca-rotation.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { generationsOf } from '../../rollover/readiness-facts.ts'
import { changeState, type EmbeddedControl } from './embedded-control.ts'
import { holdCeremony, type KnownBundle, signedBundles } from './signed-bundles.ts'

interface Standby {
  /** The CA in charge, and the one that comes. */
  from: number
  to: number
}

export class Standbys {
  readonly #control: EmbeddedControl
  /** Bundle of each role that every place was written with by this process. */
  readonly #written = new Map<TrustRole, number>()

  constructor(control: EmbeddedControl) {
    this.#control = control
  }

  /** Brings the role to it, unless it rotates; what is as it should be is left alone. `fence`: as of any order. */
  async keep(
    role: TrustRole,
    rotations: readonly CARotationObject[],
    fence: { token: number; sequence: number },
  ): Promise<void> {
    const standby = await this.#standby(role, rotations)
    if (!standby) return
    const { trust, sinks } = this.#control
    const bundle = await this.#bundle(role, standby)
    if (!bundle) return
    const { generation, pem } = bundle
    const places = sinks.filter(sink => sink.role === role)
    const state = trust.role(role)
    if (state.bundle !== generation || state.judgesBy !== generation)
      await changeState(this.#control, role, fence, () => ({
        bundle: generation,
        judgesBy: generation,
        sinks: Object.fromEntries(places.map(({ id }) => [id, generation])),
      }))
    if (trust.role(role).bundle !== generation || this.#written.get(role) === generation) return
    trust.bundlesChanged()
    for (const place of places) await place.write(pem)
    this.#written.set(role, generation)
  }

  /** Undefined where it rotates, and where a successor's key would be made in a file beside a token's. */
  async #standby(role: TrustRole, rotations: readonly CARotationObject[]): Promise<Standby | undefined> {
    const { cas, trust } = this.#control
    const { running, from, to } = generationsOf(role, rotations)
    const { present, sign } = trust.role(role)
    const inCharge = role === 'apiserver-serving' ? present.authority : sign.authority
    const active = cas.authority(role, from)
    // Where another CA is in charge than rotations have brought, people are at it.
    if (running !== undefined || inCharge !== from || !active || !('exportPem' in active.signer))
      return undefined
    await cas.create(role, to, { waits: true })
    return { from, to }
  }

  /** The one that is published where it has both, else the first after it; signed now where a root is online. */
  async #bundle(role: TrustRole, standby: Standby): Promise<KnownBundle | undefined> {
    const { from, to } = standby
    const found = () => {
      const published = this.#control.trust.role(role).bundle
      return [...signedBundles(role, this.#control).values()]
        .filter(({ generation }) => generation >= published)
        .sort((one, other) => one.generation - other.generation)
        .find(({ anchors }) => anchors.length === 2 && anchors.includes(from) && anchors.includes(to))
    }
    const known = found()
    if (known) return known
    await holdCeremony(role, [from, to], { ...this.#control, now: this.#control.clock.now() })
    return found()
  }
}
