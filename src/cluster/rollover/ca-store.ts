/** Keys of the CAs that come after the first, one a role and generation: written once, mode 0600, never overwritten (P2). */
import { join } from 'node:path'
import { RollcallError } from '../../errors.ts'
import { generateSigner, keyMatches, loadSigner } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import { type TrustRole, trustRoles } from '../../kube/rollcall/trust-bundle.ts'
import type { Clock, Disk, Random } from '../../ports.ts'
import { crossSigned, isCrossSigned, newCaCertificate } from '../../rollover/bridge.ts'
import { type Certificate, parseCertificatesPem } from '../../x509/certificate.ts'
import type { CertificateAuthority } from '../issue-pair.ts'
import { readIfThere, replaceFile } from '../pki-files.ts'
import { absentSigner } from './absent-signer.ts'

export interface CaStoreOptions {
  /** `D/ca`. */
  directory: string
  /** The CA that all roles begin with, generation 1: `D/pki/ca.crt`. */
  first: CertificateAuthority
  disk: Disk
  clock: Clock
  random: Random
}

const day = 86_400_000
const lifetime = 3650 * day
const backdate = 5 * 60_000

export class CaStore {
  readonly #options: CaStoreOptions
  readonly #authorities = new Map<string, CertificateAuthority>()
  readonly #crosses = new Map<string, string>()

  constructor(options: CaStoreOptions) {
    this.#options = options
    for (const role of trustRoles) this.#authorities.set(nameOf(role, 1), options.first)
  }

  /** Reads what the folder holds. Throws KEY_MISMATCH for a key that is not its certificate's. */
  async load(): Promise<void> {
    const { disk, directory } = this.#options
    await disk.makeDirectory(directory, 0o700)
    for (const file of await disk.list(directory)) {
      const [, name = '', role, generation, issuer] =
        /^(ca-([a-z-]+?)-(\d+)(?:-by-(\d+))?)\.crt$/.exec(file) ?? []
      const known = trustRoles.find(one => one === role)
      const pem = known && (await readIfThere(disk, join(directory, file)))
      if (!known || pem === undefined) continue
      if (issuer === undefined)
        this.#authorities.set(nameOf(known, Number(generation)), await this.#open(name, pem))
      else this.#crosses.set(name, pem)
    }
  }

  authority(role: TrustRole, generation: number): CertificateAuthority | undefined {
    return this.#authorities.get(nameOf(role, generation))
  }

  /** Which CA of the role this certificate (DER) is. */
  generationOf(role: TrustRole, der: Uint8Array): number | undefined {
    return this.generations(role).find(generation => {
      const authority = this.authority(role, generation)
      return authority !== undefined && Buffer.compare(authority.certificate.raw, der) === 0
    })
  }

  /** Which CA of the role has issued this leaf, by name and key identifier. */
  issuerOf(role: TrustRole, leaf: Certificate): number | undefined {
    return this.generations(role).find(generation => {
      const issuer = this.authority(role, generation)?.certificate
      return issuer !== undefined && Buffer.compare(issuer.subject.raw, leaf.issuer.raw) === 0
    })
  }

  generations(role: TrustRole): number[] {
    const prefix = `ca-${role}-`
    return [...this.#authorities.keys()]
      .filter(name => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
      .map(name => Number(name.slice(prefix.length)))
      .sort((a, b) => a - b)
  }

  /**
   * Makes the CA unless it is there. The key is on the disk, read back, before there is a certificate of it. It outlives
   * all that are there; one that is to wait until another has served its time lives twice as long.
   */
  async create(role: TrustRole, generation: number, { waits = false } = {}): Promise<void> {
    if (this.authority(role, generation)) return
    const { disk, directory, clock, random } = this.#options
    const name = nameOf(role, generation)
    const path = join(directory, `${name}.key`)
    if ((await readIfThere(disk, path)) === undefined) {
      const key = generateSigner('ECDSA-P256', random).exportPem()
      await disk.write(path, key.reveal(), { mode: 0o600, exclusive: true, sync: true })
      await disk.syncDirectory(directory)
    }
    const signer = loadSigner(new Secret((await readIfThere(disk, path)) ?? ''))
    const now = clock.now()
    const ends = this.generations(role).map(one => this.authority(role, one)?.certificate.notAfter ?? 0)
    const notAfter = Math.max(now + (waits ? 2 : 1) * lifetime, Math.max(...ends) + day)
    const times = { notBefore: now - backdate, notAfter }
    const pem = await newCaCertificate({ role, generation, signer, random, ...times })
    await replaceFile(disk, join(directory, `${name}.crt`), pem, 0o644)
    this.#authorities.set(name, await this.#open(name, pem))
  }

  /** The certificate of one CA's key signed by the other, PEM. */
  cross(role: TrustRole, subject: number, issuer: number): string | undefined {
    return this.#crosses.get(crossName(role, subject, issuer))
  }

  /** The CA's certificate signed by the newest of the others that signed it. */
  newestCross(role: TrustRole, subject: number): string | undefined {
    const issuers = this.generations(role).reverse()
    return issuers.map(issuer => this.cross(role, subject, issuer)).find(pem => pem !== undefined)
  }

  async crossSign(role: TrustRole, subject: number, issuer: number): Promise<void> {
    const name = crossName(role, subject, issuer)
    const below = this.authority(role, subject)
    const above = this.authority(role, issuer)
    if (this.#crosses.has(name) || !below || !above) return
    const { disk, directory, random } = this.#options
    const pem = await crossSigned({ subject: below.certificate, issuer: above, random })
    await replaceFile(disk, join(directory, `${name}.crt`), pem, 0o644)
    this.#crosses.set(name, pem)
  }

  /** Whether it was read back and says what it should. */
  isCrossSigned(role: TrustRole, subject: number, issuer: number): boolean {
    const [cross] = parseCertificatesPem(this.cross(role, subject, issuer) ?? '')
    const below = this.authority(role, subject)
    const above = this.authority(role, issuer)
    return !!cross && !!below && !!above && isCrossSigned(cross, below.certificate, above.certificate)
  }

  async #open(name: string, pem: string): Promise<CertificateAuthority> {
    const { disk, directory } = this.#options
    const path = join(directory, `${name}.key`)
    const [certificate] = parseCertificatesPem(pem)
    const key = await readIfThere(disk, path)
    if (certificate && key === undefined) return { pem, certificate, signer: absentSigner(certificate, path) }
    const signer = loadSigner(new Secret(key ?? ''))
    if (!certificate || !keyMatches(signer, certificate))
      throw new RollcallError(
        'KEY_MISMATCH',
        `${path} is not the key of ${name}.crt; put the right key back.`,
        { path },
      )
    return { pem, certificate, signer }
  }
}

function nameOf(role: TrustRole, generation: number): string {
  return `ca-${role}-${generation}`
}

function crossName(role: TrustRole, subject: number, issuer: number): string {
  return `${nameOf(role, subject)}-by-${issuer}`
}
