/** The CAs whose keys are on this node: kubeadm's, and those that came sealed. Written once, 0600, never overwritten (P2). */
import { posix } from 'node:path'
import { RollcallError } from '../../errors.ts'
import { keyMatches, loadSigner } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import type { Signer } from '../../keys/signer.ts'
import type { Disk } from '../../ports.ts'
import type { KeyId } from '../../trust/control-plane-orders.ts'
import type { ControlPlaneRole } from '../../trust/control-plane-report.ts'
import { type Certificate, parseCertificatesPem } from '../../x509/certificate.ts'
import { encodePem } from '../../x509/pem.ts'
import type { Layout } from './layout.ts'
import { replaceFile } from './replace-file.ts'
import { readText } from './step-journal.ts'

export interface LocalAuthority {
  certificate: Certificate
  signer: Signer
  files: { certificate: string; key: string }
}

/** Hexadecimal key identifier; undefined where the certificate has none. */
export function keyIdOf({ subjectKeyIdentifier }: Certificate): KeyId | undefined {
  return subjectKeyIdentifier && Buffer.from(subjectKeyIdentifier).toString('hex')
}

export class Authorities {
  readonly #disk: Disk
  readonly #layout: Layout
  readonly #known = new Map<string, LocalAuthority>()

  constructor(disk: Disk, layout: Layout) {
    this.#disk = disk
    this.#layout = layout
  }

  get(role: ControlPlaneRole, id: KeyId): LocalAuthority | undefined {
    return this.#known.get(`${role}/${id}`)
  }

  ids(role: ControlPlaneRole): KeyId[] {
    return [...this.#known.keys()]
      .filter(name => name.startsWith(`${role}/`))
      .map(name => name.slice(role.length + 1))
  }

  /** Reads what is there. Throws KEY_MISMATCH for a key that is not its certificate's. */
  async load(): Promise<void> {
    const { firstAuthority, own, authority } = this.#layout
    for (const role of ['apiserver-serving', 'client'] as const) {
      await this.#open(role, firstAuthority)
      for (const file of await this.#names(own)) {
        const id = new RegExp(`^ca-${role}-([0-9a-f]{8,64})\\.crt$`).exec(file)?.[1]
        if (id !== undefined) await this.#open(role, authority(role, id))
      }
    }
  }

  /** Keeps a key that came for this CA. Throws KEY_MISMATCH for another CA's key: nothing is written then. */
  async keep(role: ControlPlaneRole, certificate: Certificate, key: Secret): Promise<void> {
    const id = keyIdOf(certificate)
    if (id === undefined || this.get(role, id)) return
    if (!keyMatches(loadSigner(key), certificate))
      throw new RollcallError(
        'KEY_MISMATCH',
        `A key came for CA ${id} of ${role} that is another's; it was thrown away.`,
      )
    const files = this.#layout.authority(role, id)
    await this.#disk.makeDirectory(this.#layout.own, 0o755)
    // The key first: a certificate says that its key is there.
    await replaceFile(this.#disk, files.key, key.reveal(), 0o600)
    await replaceFile(this.#disk, files.certificate, encodePem('CERTIFICATE', certificate.raw), 0o644)
    await this.#open(role, files)
  }

  async #open(role: ControlPlaneRole, files: LocalAuthority['files']): Promise<void> {
    const pem = await readText(this.#disk, files.certificate)
    const key = await readText(this.#disk, files.key)
    const [certificate] = pem === undefined ? [] : parseCertificatesPem(pem)
    const id = certificate && keyIdOf(certificate)
    // kubeadm with an external CA has no key here: then it is sealed to us like any other.
    if (!certificate || id === undefined || key === undefined) return
    const signer = loadSigner(new Secret(key))
    if (!keyMatches(signer, certificate))
      throw new RollcallError(
        'KEY_MISMATCH',
        `${files.key} is not the key of ${posix.basename(files.certificate)}; put the right key back.`,
        { path: files.key },
      )
    this.#known.set(`${role}/${id}`, { certificate, signer, files })
  }

  async #names(directory: string): Promise<string[]> {
    await this.#disk.makeDirectory(directory, 0o755)
    return this.#disk.list(directory)
  }
}
