import { encodeSigningRequest } from '../../join/signing-request.ts'
import { type CertificateTemplate, clientTemplate, servingTemplate } from '../../join/template.ts'
import { generateSigner } from '../../keys/private-key.ts'
import { Secret } from '../../keys/secret.ts'
import { createClient, type KubeClient } from '../../kube/client.ts'
import { type CertificateSigningRequest, type NodeAddress, resources } from '../../kube/types.ts'
import { encodePem } from '../../x509/pem.ts'
import { apiServer, type Foundation } from './foundation.ts'
import { startUnlessRunning } from './inject.ts'
import type { NodeClaims } from './issuance-watch.ts'
import type { Network } from './network.ts'
import type { SeededRandom } from './random.ts'
import type { SimulatedNode } from './simulated-node.ts'
import type { VirtualTime } from './virtual-time.ts'

/** The names of its requests begin so; nobody needs to answer them. */
export const theftPrefix = 'theft-'

export interface ThiefOptions {
  /** The node whose root does it; its agent runs all the while. */
  node: SimulatedNode
  /** Who is to be robbed. */
  victims: readonly NodeClaims[]
  time: VirtualTime
  network: Network
  foundation: Foundation
  random: SeededRandom
  /** Milliseconds since the epoch at which it becomes honest. */
  until: number
  /** Milliseconds between two attempts, on average. */
  meanGap: number
}

/** A node that wants what belongs to others, with all that it may do: its own Node, its certificate, the bootstrap token. */
export class Thief {
  /** What the API let it do, and never may. */
  readonly violations: string[] = []
  readonly #options: ThiefOptions
  #attempts = 0

  constructor(options: ThiefOptions) {
    this.#options = options
  }

  start(): void {
    const { time, random, until, meanGap } = this.#options
    time.at(until, () => this.#claim([]))
    const again = () => {
      if (time.now >= until) return
      this.#attempt()
      time.after(random.gap(meanGap), again)
    }
    time.after(random.gap(meanGap), again)
  }

  #attempt(): void {
    const { node, random, victims } = this.#options
    const victim = random.pick(victims)
    const held = node.held('kubelet-client')
    startUnlessRunning(node)
    node.machine.record('theft', { victim: victim.name })
    this.#claim(random.chance(0.7) ? addressesOf(victim) : [])
    // What the API refuses, and what the network loses, is no matter.
    if (held) this.#act(victim, random.integer(0, 4)).catch(() => {})
  }

  /** Publishes these addresses beside its own, and has its agent ask for them. */
  #claim(more: readonly NodeAddress[]): void {
    const { node } = this.#options
    node.agent?.setAddresses([...addressesOf(node), ...more])
  }

  async #act(victim: NodeClaims, act: number): Promise<void> {
    const { node } = this.#options
    const client = this.#connect()
    const own = addressesOf(node)
    if (act === 0) await this.#ask(client, servingTemplate(victim.name, addressesOf(victim), 'Ed25519'))
    if (act === 1) await this.#ask(client, clientTemplate(victim.name, 'Ed25519'))
    if (act === 2) {
      const wanted = [...own, ...addressesOf(victim)]
      await this.#ask(client, servingTemplate(node.name, wanted, 'Ed25519'))
    }
    if (act === 3) {
      const status = { addresses: addressesOf(node) }
      const target = { name: victim.name, subresource: 'status' }
      await client.patch(resources.nodes, target, 'merge', { status })
      this.violations.push(`${node.name} changed the addresses of ${victim.name}`)
    }
    if (act === 4) {
      const request = await this.#ask(client, clientTemplate(victim.name, 'Ed25519'))
      const approved = { type: 'Approved', status: 'True', reason: 'Thief', message: '' }
      await client.update(
        resources.certificateSigningRequests,
        { ...request, status: { conditions: [approved] } },
        { subresource: 'approval' },
      )
      this.violations.push(`${node.name} approved its own request ${request?.metadata.name}`)
    }
  }

  async #ask(
    client: KubeClient,
    template: CertificateTemplate | undefined,
  ): Promise<CertificateSigningRequest> {
    if (!template) throw new Error('a node without addresses')
    const signer = generateSigner('Ed25519', this.#options.random)
    const request = encodePem('CERTIFICATE REQUEST', await encodeSigningRequest(template, signer))
    this.#attempts += 1
    return client.create<CertificateSigningRequest>(resources.certificateSigningRequests, {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: `${theftPrefix}${this.#attempts}` },
      spec: {
        request: Buffer.from(request).toString('base64'),
        signerName: template.signerName,
        usages: [...template.usages],
      },
    })
  }

  /** With the certificate that its agent holds on the disk. */
  #connect(): KubeClient {
    const { node, network, foundation } = this.#options
    const { process } = node.machine
    const pair = node.pairText('kubelet-client')
    if (!process || pair === undefined) throw new Error('the thief holds no certificate')
    const clientCertificate = { certificate: pair, key: new Secret(pair) }
    const connection = { server: apiServer, certificateAuthority: foundation.pki.ca.pem, clientCertificate }
    return createClient(network.connectFrom(process)(connection))
  }
}

function addressesOf({ name, address }: NodeClaims): NodeAddress[] {
  return [
    { type: 'InternalIP', address },
    { type: 'Hostname', address: name },
  ]
}
