/** CA keys for agents that lack them: sealed to a key that the node has signed with its own certificate, and to no other. */

import type { PrivateKeySigner } from '../../keys/private-key.ts'
import { seal } from '../../keys/sealed.ts'
import type { Signer } from '../../keys/signer.ts'
import type { KubeNode } from '../../kube/types.ts'
import { type KeyId, sealedAbout } from '../../trust/control-plane-orders.ts'
import type { ControlPlaneReport, ControlPlaneRole } from '../../trust/control-plane-report.ts'
import { isSealBy, isSealOf } from '../../trust/seal-proof.ts'
import { decodePem } from '../../x509/pem.ts'
import { generationIn, type KubeadmControl } from './kubeadm-control.ts'

export interface SealedForNode {
  sealed: Readonly<Record<KeyId, string>>
  /** Why nothing is sealed to it, though it lacks keys. */
  refused?: string
}

export class SealedKeys {
  readonly #control: KubeadmControl
  /** Made once for each key of an agent: sealed anew, the same secret would read otherwise. */
  readonly #made = new Map<string, string>()

  constructor(control: KubeadmControl) {
    this.#control = control
  }

  forNode(role: ControlPlaneRole, node: KubeNode, report: ControlPlaneReport | undefined): SealedForNode {
    const { cas, random } = this.#control
    const lacking = report?.lacks[role] ?? []
    if (!report || lacking.length === 0) return { sealed: {} }
    const refused = this.#whyNot(node, report)
    if (refused !== undefined) return { sealed: {}, refused }
    const { name, uid = '' } = node.metadata
    const sealed = lacking.flatMap(id => {
      const generation = generationIn(cas, role, id)
      const signer = generation === undefined ? undefined : cas.authority(role, generation)?.signer
      if (!signer || !isExportable(signer)) return []
      const about = sealedAbout(role, id, { name, uid })
      // Of the node too: another one may show the same sealing key, and it opens nothing that is sealed about that one.
      const key = `${about} ${report.seal}`
      const recipient = Buffer.from(report.seal, 'base64')
      const known =
        this.#made.get(key) ??
        Buffer.from(seal(signer.exportPem(), recipient, about, random)).toString('base64')
      this.#made.set(key, known)
      return [[id, known] as const]
    })
    const missing = lacking.length > sealed.length
    return {
      sealed: Object.fromEntries(sealed),
      ...(missing && { refused: 'the key of a CA is in a token, or not known here' }),
    }
  }

  /** DER in base64 of the CA's certificate by another one. */
  cross(role: ControlPlaneRole, generation: number): string | undefined {
    const [block] = decodePem(this.#control.cas.newestCross(role, generation) ?? '')
    return block && Buffer.from(block.bytes).toString('base64')
  }

  #whyNot(
    { metadata: { name, uid = '' } }: KubeNode,
    { seal: key, proof }: ControlPlaneReport,
  ): string | undefined {
    const { cas, clock, nodes, identities } = this.#control
    if (!nodes.includes(name)) return 'it is none of the control-plane nodes that were named here'
    if (!proof) return 'its agent does not prove that the sealing key is its own'
    const pinned = identities && (identities[name] ?? '')
    if (pinned !== undefined && !isSealBy(key, proof, { name, uid }, pinned))
      return 'the sealing key in its report is not signed by the key of the node that is pinned'
    const authorities = cas
      .generations('client')
      .flatMap(one => cas.authority('client', one)?.certificate ?? [])
    if (isSealOf(key, proof, { name, uid }, authorities, clock.now())) return undefined
    return 'the sealing key in its report is not signed by the certificate of this node'
  }
}

function isExportable(signer: Signer): signer is PrivateKeySigner {
  return 'exportPem' in signer
}
