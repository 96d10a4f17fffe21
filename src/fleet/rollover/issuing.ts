/** Certificates of a simulated fleet's nodes: a key and a request each time, signed by the production signer. */
import { encodeSigningRequest } from '../../join/signing-request.ts'
import { type CertificateTemplate, clientTemplate, servingTemplate } from '../../join/template.ts'
import { generateSigner } from '../../keys/private-key.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { Random } from '../../ports.ts'
import type { Presented } from '../../rollover/simulated/tls-handshake.ts'
import { anchorsOf, type Leaf, type Member, type World } from '../../rollover/simulated/world.ts'
import { issue } from '../../sign/issue.ts'
import { prepare } from '../../sign/prepare.ts'
import { readRequest } from '../../sign/read-request.ts'
import type { Certificate } from '../../x509/certificate.ts'
import { encodePem } from '../../x509/pem.ts'
import { randomSerialNumber } from '../../x509/serial-number.ts'
import type { FleetAuthorities } from './authorities.ts'
import { timeless } from './timeless.ts'

export interface HeldLeaf {
  certificate: Certificate
  key: ReturnType<typeof generateSigner>
  leaf: Leaf
}

const year = 365 * 86_400
const algorithm = 'ECDSA-P256'

export class FleetIssuing {
  /** Certificates so far. */
  issued = 0
  readonly #role: TrustRole
  readonly #authorities: FleetAuthorities
  readonly #random: Random
  readonly #waiting = new Map<string, Leaf>()
  readonly #held = new Map<string, HeldLeaf>()

  constructor(role: TrustRole, authorities: FleetAuthorities, random: Random) {
    this.#role = role
    this.#authorities = authorities
    this.#random = random
  }

  ask({ id }: Member, leaf: Leaf): void {
    this.#waiting.set(id, leaf)
  }

  held(id: string): HeldLeaf | undefined {
    return this.#held.get(id)
  }

  /** Signs for all who have asked. Throws Error when a certificate is not what the model takes it for. */
  async signAll(world: World): Promise<void> {
    for (const [id, leaf] of this.#waiting) {
      const held = await this.#sign(id, leaf)
      this.#held.set(id, held)
      this.#compare(world, id, held)
      this.issued += 1
    }
    this.#waiting.clear()
  }

  /** The leaf and what it comes with, for TLS. */
  async presented(id: string): Promise<Presented | undefined> {
    const held = this.#held.get(id)
    const authority = held && this.#authorities.get(held.leaf.authority)
    if (!held || !authority) return undefined
    const bridge = held.leaf.mode === 'bridged' ? authority.forTls.bridge : ''
    const leaf = await timeless(held.certificate, authority.signer)
    return { chain: leaf + bridge, key: held.key.exportPem().reveal() }
  }

  async #sign(id: string, leaf: Leaf): Promise<HeldLeaf> {
    const authority = this.#authorities.get(leaf.authority)
    if (!authority) throw new RangeError(`CA ${leaf.authority} signs and was never made`)
    const key = generateSigner(algorithm, this.#random)
    const template = this.#templateOf(id.slice(id.indexOf('/') + 1))
    const csr = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: `csr-${this.issued}` },
      spec: {
        request: Buffer.from(
          encodePem('CERTIFICATE REQUEST', await encodeSigningRequest(template, key)),
        ).toString('base64'),
        signerName: template.signerName,
        usages: [...template.usages],
      },
    }
    const { prepared, refusal } = prepare({
      csr,
      request: readRequest(csr),
      authority,
      now: this.#authorities.now,
      certificateLifetimeSeconds: year,
      serialNumber: randomSerialNumber(this.#random),
    })
    if (!prepared) throw new Error(`the signer refuses ${id}: ${refusal}`)
    const { certificate } = await issue(prepared)
    return { certificate, key, leaf }
  }

  #templateOf(node: string): CertificateTemplate {
    if (this.#role !== 'kubelet-serving') return clientTemplate(node, algorithm)
    const template = servingTemplate(node, [{ type: 'InternalIP', address: '10.0.0.1' }], algorithm)
    if (!template) throw new RangeError(`${node} has no address`)
    return template
  }

  /** The model knows a leaf by its CA; what was signed has to be judged the same. */
  #compare(world: World, id: string, { certificate, leaf }: HeldLeaf): void {
    const usage = this.#role === 'kubelet-serving' ? 'serverAuth' : 'clientAuth'
    const chain = [certificate, ...this.#authorities.above(leaf)]
    for (const { judgesBy } of world.servers) {
      if (judgesBy === undefined) continue
      const anchors = anchorsOf(world, judgesBy)
      const judged = this.#authorities.judges(chain, anchors, usage)
      if (judged !== this.#authorities.verifies(leaf, anchors))
        throw new Error(`the certificate of ${id} is ${judged ? '' : 'not '}verified by CAs ${anchors}`)
    }
  }
}
