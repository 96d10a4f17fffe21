/** Trust roots that are kept offline, and the bundles that they sign when they meet: two of three, by the production code. */
import { generateSigner } from '../../keys/private-key.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { Random } from '../../ports.ts'
import type { BundleFacts } from '../../rollover/observations.ts'
import { acceptBundle, type SignedBundle } from '../../trust/accept-bundle.ts'
import { anchorsDigest, decodeBundle } from '../../trust/bundle-text.ts'
import { plannedBundles, signBundles } from '../../trust/ceremony.ts'
import type { TrustRoots } from '../../trust/trust-roots.ts'
import type { FleetAuthorities } from './authorities.ts'

const day = 86_400_000
const cluster = 'simulated'

export class FleetBundles {
  /** Meetings so far. */
  ceremonies = 0
  readonly #role: TrustRole
  readonly #authorities: FleetAuthorities
  readonly #signers: ReturnType<typeof generateSigner>[]
  readonly #roots: TrustRoots
  readonly #signed = new Map<number, SignedBundle & { digest: string }>()
  readonly #taken = new Map<string, boolean>()

  constructor(role: TrustRole, authorities: FleetAuthorities, random: Random) {
    this.#role = role
    this.#authorities = authorities
    this.#signers = Array.from({ length: 3 }, () => generateSigner('Ed25519', random))
    const keys = this.#signers.map(({ publicKey }) => publicKey)
    this.#roots = { cluster, version: 1, threshold: 2, keys }
  }

  /** Signs what the rollovers through these CAs need, after the last generation. Resolves with the facts of it. */
  async ceremony(generations: readonly number[], lastGeneration: number): Promise<BundleFacts[]> {
    const { now } = this.#authorities
    const notBefore = Math.floor(now / 1000) * 1000 - day
    const planned = plannedBundles({
      cluster,
      role: this.#role,
      lastGeneration,
      authorities: this.#authorities.roots(generations).map(({ raw }) => raw),
      notBefore,
      notAfter: notBefore + 3650 * day,
    })
    const signed = await signBundles(planned, this.#signers.slice(0, 2), this.#roots)
    this.ceremonies += 1
    return signed.map(bundle => {
      const anchors = decodeBundle(bundle.content)?.anchors ?? []
      const digest = anchorsDigest(anchors)
      this.#signed.set(bundle.generation, { ...bundle, digest })
      return { generation: bundle.generation, digest, anchors: this.#generationsOf(anchors, generations) }
    })
  }

  /** What the production code says to a consumer that holds one bundle and is shown another. */
  accepts(generation: number, held: number): boolean {
    const key = `${generation} ${held} ${Math.floor(this.#authorities.now / day)}`
    const known = this.#taken.get(key)
    if (known !== undefined) return known
    const bundle = this.#signed.get(generation)
    const holds = this.#signed.get(held)
    const answer =
      bundle !== undefined &&
      acceptBundle(bundle, {
        roots: this.#roots,
        role: this.#role,
        now: this.#authorities.now,
        ...(holds && { held: { generation: held, digest: holds.digest } }),
      }).ok
    if (this.#taken.size > 1000) this.#taken.clear()
    this.#taken.set(key, answer)
    return answer
  }

  forgetBefore(generation: number): void {
    for (const known of this.#signed.keys()) if (known < generation) this.#signed.delete(known)
  }

  #generationsOf(anchors: readonly Uint8Array[], among: readonly number[]): number[] {
    return among.filter(generation => {
      const raw = this.#authorities.get(generation)?.certificate.raw ?? new Uint8Array()
      return anchors.some(der => Buffer.compare(der, raw) === 0)
    })
  }
}
