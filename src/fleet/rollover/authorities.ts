/** The CAs of one role in a simulation: real keys and certificates, made when they are needed, however many. */
import { generateSigner, type KeyAlgorithm, type PrivateKeySigner } from '../../keys/private-key.ts'
import { issueCertificate } from '../../keys/self-signed.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { Random } from '../../ports.ts'
import { crossSigned, newCaCertificate } from '../../rollover/bridge.ts'
import type { AuthorityPool, Chain } from '../../rollover/simulated/authority-pool.ts'
import type { Presented } from '../../rollover/simulated/tls-handshake.ts'
import { type Certificate, parseCertificatesPem, verifyChain } from '../../x509/certificate.ts'
import { nameOf } from '../../x509/name.ts'
import { oids } from '../../x509/oid.ts'
import { timeless } from './timeless.ts'

const day = 86_400_000

export interface FleetAuthority {
  certificate: Certificate
  signer: PrivateKeySigner
  /** What an API server presents of this CA, as long as the CA lives. */
  leaf: Certificate
  leafKey: PrivateKeySigner
  /** The CA's certificate by the one before it. */
  bridge?: Certificate
  /** The same three for TLS stacks, which read the clock of the machine. PEM. */
  forTls: { ca: string; leaf: string; bridge: string }
}

export interface FleetAuthoritiesOptions {
  role: TrustRole
  random: Random
  /** Of the key of each generation. */
  algorithm?(generation: number): KeyAlgorithm
}

export class FleetAuthorities implements AuthorityPool {
  /** Milliseconds since the epoch: by when certificates are judged. */
  now = 0
  readonly #options: FleetAuthoritiesOptions
  readonly #made = new Map<number, FleetAuthority>()
  readonly #answers = new Map<string, boolean>()

  constructor(options: FleetAuthoritiesOptions) {
    this.#options = options
  }

  get(generation: number): FleetAuthority | undefined {
    return this.#made.get(generation)
  }

  /**
   * Makes the CA of a generation, unless it is there. It lives from now on for so long (milliseconds), and outlives the one
   * before it, as its rotation will ask for.
   */
  async make(generation: number, life = 3650 * day): Promise<void> {
    if (this.#made.has(generation)) return
    const { role, random, algorithm = () => 'ECDSA-P256' as const } = this.#options
    const signer = generateSigner(algorithm(generation), random)
    const before = this.#made.get(generation - 1)?.certificate.notAfter ?? 0
    const times = { notBefore: this.now, notAfter: Math.max(this.now + life, before + day) }
    const certificate = one(await newCaCertificate({ role, generation, signer, random, ...times }))
    const leafKey = generateSigner('ECDSA-P256', random)
    const leaf = one(
      await issueCertificate({
        ca: { certificate, signer },
        subject: nameOf({ commonName: 'kube-apiserver' }),
        spki: leafKey.publicKey,
        random,
        ...times,
        extensions: { extendedKeyUsage: [oids.serverAuth, oids.clientAuth] },
      }),
    )
    const forTls = { ca: await timeless(certificate, signer), leaf: await timeless(leaf, signer), bridge: '' }
    this.#made.set(generation, { certificate, signer, leaf, leafKey, forTls })
  }

  /** Has the CA before sign the one of this generation, once. */
  async bridge(generation: number): Promise<void> {
    const [issuer, subject] = [this.#made.get(generation - 1), this.#made.get(generation)]
    if (!issuer || !subject || subject.bridge) return
    const { random } = this.#options
    subject.bridge = one(await crossSigned({ subject: subject.certificate, issuer, random }))
    subject.forTls.bridge = await timeless(subject.bridge, issuer.signer)
  }

  /** Forgets the keys of CAs before this one, and what was asked about them. */
  forgetBefore(generation: number): void {
    for (const known of this.#made.keys()) if (known < generation) this.#made.delete(known)
    this.#answers.clear()
  }

  algorithm(generation: number): string {
    return this.#made.get(generation)?.certificate.keyType ?? 'P-256'
  }

  roots(anchors: readonly number[]): Certificate[] {
    return anchors.flatMap(generation => this.#made.get(generation)?.certificate ?? [])
  }

  rootsForTls(anchors: readonly number[]): string {
    return anchors.map(generation => this.#made.get(generation)?.forTls.ca ?? '').join('')
  }

  /** What an API server presents. */
  presented({ authority, mode }: Chain): Presented {
    const made = this.#made.get(authority)
    if (!made) throw new RangeError(`CA ${authority} was never made`)
    const { leaf, bridge } = made.forTls
    return { chain: leaf + (mode === 'bridged' ? bridge : ''), key: made.leafKey.exportPem().reveal() }
  }

  /** Certificates that a leaf of the CA is presented with. */
  above({ authority, mode }: Chain): Certificate[] {
    const bridge = mode === 'bridged' ? this.#made.get(authority)?.bridge : undefined
    return bridge ? [bridge] : []
  }

  verifies(chain: Chain, anchors: readonly number[]): boolean {
    const mode = chain.mode === 'bridged' ? 'x' : ''
    const key = `${chain.authority}${mode}|${anchors.join(',')}|${this.#ended()}`
    const known = this.#answers.get(key)
    if (known !== undefined) return known
    const leaf = this.#made.get(chain.authority)?.leaf
    const answer = leaf !== undefined && this.judges([leaf, ...this.above(chain)], anchors, 'serverAuth')
    this.#answers.set(key, answer)
    return answer
  }

  /** Our own path check, by the simulated clock. */
  judges(
    chain: readonly Certificate[],
    anchors: readonly number[],
    usage: 'serverAuth' | 'clientAuth',
  ): boolean {
    return verifyChain(chain, this.roots(anchors), { now: this.now, usage }).ok
  }

  /** How many CAs have ended: until the next ends, no answer changes. */
  #ended(): number {
    let ended = 0
    for (const { certificate } of this.#made.values()) if (certificate.notAfter < this.now) ended += 1
    return ended
  }
}

function one(pem: string): Certificate {
  const [certificate] = parseCertificatesPem(pem)
  if (certificate === undefined) throw new RangeError('a certificate was made without one')
  return certificate
}
