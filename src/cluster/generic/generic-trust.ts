/** What is in force in this process of what was ordered: which CA signs, what kube-root-ca.crt is to hold. */
import type { KubeClient } from '../../kube/client.ts'
import type { AuthoritySource } from '../../sign/authority.ts'
import type { RootCertificates } from '../../trust/root-ca-publisher.ts'
import type { CertificateAuthority } from '../issue-pair.ts'
import type { CaStore } from '../rollover/ca-store.ts'
import { changeState, type GenericState, readState, type StoredState } from './generic-state.ts'
import type { ManagedRole } from './rollover-file.ts'

export interface GenericTrustOptions {
  client: KubeClient
  cas: Readonly<Partial<Record<ManagedRole, CaStore>>>
}

export class GenericTrust {
  readonly #options: GenericTrustOptions
  readonly #listeners = new Set<() => void>()
  #stored: StoredState | undefined
  #rootCa = ''

  constructor(options: GenericTrustOptions) {
    this.#options = options
  }

  /** As read last. Before the first reading nothing is known, and no CA signs. */
  role(role: ManagedRole): GenericState | undefined {
    return this.#stored?.roles[role]
  }

  /** Reads what is stored, and puts it in force. */
  async follow(): Promise<void> {
    this.#apply(await readState(this.#options.client))
  }

  /** Another may have led meanwhile: what was known counts no longer. */
  forget(): void {
    this.#stored = undefined
    this.#tell()
  }

  async change(
    role: ManagedRole,
    fence: GenericState['fence'],
    change: (state: GenericState) => Partial<GenericState>,
  ): Promise<void> {
    this.#apply(await changeState(this.#options.client, role, fence, change))
  }

  /** PEM that kube-root-ca.crt is to hold. */
  publish(pem: string): void {
    if (pem === this.#rootCa) return
    this.#rootCa = pem
    this.#tell()
  }

  readonly rootCertificates: RootCertificates = {
    current: () => this.#rootCa,
    onChange: run => this.#onChange(run),
  }

  /** The CA that signs leaves of the role now. */
  signing(role: ManagedRole): CertificateAuthority | undefined {
    const authority = this.role(role)?.sign.authority
    return authority === undefined ? undefined : this.#options.cas[role]?.authority(role, authority)
  }

  /** The same for the signing controller, which is told when it changes. */
  source(role: ManagedRole): AuthoritySource {
    return {
      current: () => this.signing(role),
      problem: () => this.#whyNoneSigns(role),
      onChange: run => this.#onChange(run),
    }
  }

  #whyNoneSigns(role: ManagedRole): string | undefined {
    if (this.role(role) === undefined) return 'what a rollover has ordered is not read yet'
    return this.signing(role) ? undefined : 'a rollover has taken the pointer from the CA'
  }

  #apply(stored: StoredState): void {
    const before = JSON.stringify(this.#stored?.roles)
    this.#stored = stored
    if (JSON.stringify(stored.roles) !== before) this.#tell()
  }

  #onChange(run: () => void): () => void {
    this.#listeners.add(run)
    return () => void this.#listeners.delete(run)
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}
