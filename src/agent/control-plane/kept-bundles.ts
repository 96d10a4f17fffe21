/** Signed bundles that this node's control plane was ordered to go by, kept on its disk: it needs no API to know them again. */
import { posix } from 'node:path'
import { RollcallError } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import { type AcceptedBundle, acceptBundle, type SignedBundle } from '../../trust/accept-bundle.ts'
import { decodeBundle } from '../../trust/bundle-text.ts'
import type { KeyId } from '../../trust/control-plane-orders.ts'
import { type ControlPlaneRole, controlPlaneRoles } from '../../trust/control-plane-report.ts'
import { decodeStoredBundle, encodeStoredBundle } from '../../trust/stored-bundle.ts'
import type { TrustRoots } from '../../trust/trust-roots.ts'
import type { Certificate } from '../../x509/certificate.ts'
import { encodePem } from '../../x509/pem.ts'
import { keyIdOf } from './authorities.ts'
import { replaceFile } from './replace-file.ts'
import { readText } from './step-journal.ts'

export class KeptBundles {
  readonly #disk: Disk
  readonly #directory: string
  readonly #kept = new Map<string, AcceptedBundle>()
  #roots: TrustRoots | undefined

  constructor(disk: Disk, directory: string) {
    this.#disk = disk
    this.#directory = directory
  }

  /** Whoever has a bundle keeps it beyond its end; that the pinned roots have signed it counts each time. */
  async load(roots: TrustRoots): Promise<void> {
    this.#roots = roots
    await this.#disk.makeDirectory(this.#directory, 0o700)
    for (const name of await this.#disk.list(this.#directory)) {
      const role = controlPlaneRoles.find(one => name.startsWith(`${one}-`) && name.endsWith('.json'))
      const signed = role && decodeStoredBundle((await readText(this.#disk, this.#path(name))) ?? '')
      if (role && signed) this.#accept(role, signed, decodeBundle(signed.content)?.notBefore ?? 0)
    }
  }

  has(role: ControlPlaneRole, generation: number): boolean {
    return this.#kept.has(`${role}-${generation}`)
  }

  /** Takes a bundle of this generation, for good. Throws TRUST_BUNDLE_REFUSED. */
  async take(role: ControlPlaneRole, generation: number, signed: SignedBundle, now: number): Promise<void> {
    if (decodeBundle(signed.content)?.generation !== generation)
      throw new RollcallError(
        'TRUST_BUNDLE_REFUSED',
        `TrustBundle ${role}-${generation} holds another generation.`,
      )
    this.#accept(role, signed, now)
    await replaceFile(this.#disk, this.#path(`${role}-${generation}.json`), encodeStoredBundle(signed), 0o644)
  }

  /** Throws CONTROL_PLANE_ORDER_REFUSED for one that is not here. */
  anchors(role: ControlPlaneRole, generation: number): readonly Certificate[] {
    const bundle = this.#kept.get(`${role}-${generation}`)
    if (!bundle)
      throw new RollcallError(
        'CONTROL_PLANE_ORDER_REFUSED',
        `Bundle ${generation} of ${role} is not on this node.`,
      )
    return bundle.anchors
  }

  /** The CA of a bundle with this key identifier. */
  anchor(role: ControlPlaneRole, generation: number, id: KeyId): Certificate | undefined {
    return this.anchors(role, generation).find(anchor => keyIdOf(anchor) === id)
  }

  /** The same of any bundle that the trust roots have signed and this node went by once. */
  everTrusted(role: ControlPlaneRole, id: KeyId): Certificate | undefined {
    const ofRole = [...this.#kept].filter(([name]) => name.startsWith(`${role}-`))
    return ofRole.flatMap(([, { anchors }]) => anchors).find(anchor => keyIdOf(anchor) === id)
  }

  pem(role: ControlPlaneRole, generation: number): string {
    return this.anchors(role, generation)
      .map(({ raw }) => encodePem('CERTIFICATE', raw))
      .join('')
  }

  #accept(role: ControlPlaneRole, signed: SignedBundle, now: number): void {
    if (!this.#roots) throw new RollcallError('TRUST_BUNDLE_REFUSED', 'No trust roots are pinned.')
    const acceptance = acceptBundle(signed, { roots: this.#roots, role, now })
    if (!acceptance.ok) throw new RollcallError('TRUST_BUNDLE_REFUSED', `${acceptance.message}.`)
    this.#kept.set(`${role}-${acceptance.bundle.generation}`, acceptance.bundle)
  }

  #path(name: string): string {
    return posix.join(this.#directory, name)
  }
}
