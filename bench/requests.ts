import { systemRandom } from '../src/host/random.ts'
import { encodeSigningRequest } from '../src/join/signing-request.ts'
import { clientTemplate, servingTemplate } from '../src/join/template.ts'
import { generateSigner } from '../src/keys/private-key.ts'
import type { CertificateSigningRequest, KubeNode, NodeAddress } from '../src/kube/types.ts'
import { encodePem } from '../src/x509/pem.ts'

export interface Asked {
  csr: CertificateSigningRequest
  node: KubeNode
}

/** Node number `index` of a large cluster, and its request with a key of its own. */
async function requestOf(index: number, kind: 'client' | 'serving'): Promise<Asked> {
  const name = `node-${index}`
  const addresses: NodeAddress[] = [
    { type: 'Hostname', address: name },
    { type: 'InternalIP', address: `10.1.${index >> 8}.${index & 255}` },
  ]
  const template =
    kind === 'client' ? clientTemplate(name, 'ECDSA-P256') : servingTemplate(name, addresses, 'ECDSA-P256')
  if (!template) throw new RangeError('no template')
  const signer = generateSigner('ECDSA-P256', systemRandom)
  const pem = encodePem('CERTIFICATE REQUEST', await encodeSigningRequest(template, signer))
  return {
    node: { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { addresses } },
    csr: {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: `csr-${index}` },
      spec: {
        request: Buffer.from(pem).toString('base64'),
        signerName: template.signerName,
        usages: [...template.usages],
        username: `system:node:${name}`,
        groups: ['system:nodes', 'system:authenticated'],
      },
    },
  }
}

/** `count` requests from node number `first` on, each with a key of its own. */
export function requests(count: number, kind: 'client' | 'serving', first = 0): Promise<Asked[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => requestOf(first + index, kind)))
}
