import { systemRandom } from '../../src/host/random.ts'
import { generateSigner } from '../../src/keys/private-key.ts'
import type { KubeClient } from '../../src/kube/client.ts'
import { type CertificateSigningRequest, resources } from '../../src/kube/types.ts'
import { signedRequest } from '../../src/testing/signed-request.ts'

/** A request of a signer that nobody but an operator approves, for a DNS name of worker-1 that nothing proves. Gives its name. */
export async function pendingRequest(
  client: KubeClient,
  name: string,
  dnsName = 'db.example',
): Promise<string> {
  const pem = await signedRequest({
    signer: generateSigner('ECDSA-P256', systemRandom),
    commonName: 'system:node:worker-1',
    organizations: ['system:nodes'],
    subjectAltName: { dnsNames: [dnsName], ipAddresses: [] },
  })
  const { metadata } = await client.create<CertificateSigningRequest>(resources.certificateSigningRequests, {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name },
    spec: {
      request: Buffer.from(pem).toString('base64'),
      signerName: 'example.com/by-hand',
      usages: ['digital signature', 'server auth'],
    },
  })
  return metadata.name
}
