/** Who signs client certificates where this controller does not: told by a hook, and seen by what a canary is given. */
import { join } from 'node:path'
import type { KubeClient } from '../../kube/client.ts'
import type { Clock, Random } from '../../ports.ts'
import { runCanary } from '../../survey/canary/run-canary.ts'
import { certificateSignatureIsValid, parseCertificatesPem } from '../../x509/certificate.ts'
import type { CaStore } from '../rollover/ca-store.ts'
import type { Fence, OrderHooks } from './order-hooks.ts'
import type { RolloverFile } from './rollover-file.ts'

export interface OtherSignerDoors {
  cas: Pick<CaStore, 'authority' | 'generations'>
  client: KubeClient
  asCanary: KubeClient
  file: RolloverFile
  clock: Clock
  random: Random
}

/** Milliseconds that an answer is used, and that one is waited for: a canary is a request like any other. */
const fresh = 10_000
const patience = 10_000

export class OtherSigner {
  readonly #doors: OtherSignerDoors
  #seen: { at: number; authority: number | undefined } | undefined

  constructor(doors: OtherSignerDoors) {
    this.#doors = doors
  }

  /**
   * The CA that has signed a canary just now; undefined: it was approved and nobody signs; 0: none of ours, or it is not known,
   * since nobody has approved it in time.
   */
  async signs(): Promise<number | undefined> {
    const { clock } = this.#doors
    if (this.#seen && clock.monotonic() - this.#seen.at < fresh) return this.#seen.authority
    const { ended, certificate = '' } = await runCanary({
      ...this.#doors,
      asNode: this.#doors.asCanary,
      patience,
    })
    const nobody = ended === 'unsigned' || ended === 'failed'
    const authority = nobody ? undefined : this.#issuerOf(certificate)
    this.#seen = { at: clock.monotonic(), authority }
    return authority
  }

  #issuerOf(pem: string): number {
    const { cas } = this.#doors
    const [leaf] = parseCertificatesPem(pem)
    const issuer =
      leaf &&
      cas.generations('client').findLast(one => {
        const ca = cas.authority('client', one)?.certificate
        return ca !== undefined && certificateSignatureIsValid(leaf, ca)
      })
    return issuer ?? 0
  }

  /** `authority` undefined: it is to sign by none. */
  async order(authority: number | undefined, order: Fence, hooks: OrderHooks): Promise<void> {
    const files = authority === undefined ? { certificate: '', key: '' } : this.#filesOf(authority)
    const variables = {
      ROLLCALL_AUTHORITY: authority === undefined ? '' : `${authority}`,
      ROLLCALL_CERTIFICATE: files.certificate,
      ROLLCALL_KEY: files.key,
    }
    const byHand =
      authority === undefined
        ? 'have nobody sign client certificates'
        : `have client certificates signed by ${files.certificate}${files.key && `, whose key is ${files.key}`}`
    await hooks.onSigner(variables, byHand, order)
    this.#seen = undefined
  }

  /** The key stays where it is: who signs with it is told where. One in a token has no file. */
  #filesOf(authority: number): { certificate: string; key: string } {
    const { file } = this.#doors
    const first = file.authorities.client
    if (authority === 1 && first)
      return { certificate: first.certificate, key: first.key.kind === 'file' ? first.key.path : '' }
    const path = join(file.directory, 'ca', `ca-client-${authority}`)
    return { certificate: `${path}.crt`, key: `${path}.key` }
  }
}
