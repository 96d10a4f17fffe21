import { systemRandom } from '../../src/host/random.ts'
import { generateSigner } from '../../src/keys/private-key.ts'
import { nameOf } from '../../src/x509/name.ts'
import { encodePem } from '../../src/x509/pem.ts'
import { assembleSigned, encodeRequestInfo } from '../../src/x509/request.ts'

export interface Wanted {
  name: string
  signerName: string
  commonName?: string
  organizations?: string[]
  usages?: string[]
  expirationSeconds?: number
  labels?: Record<string, string>
  dnsNames?: string[]
  /** Instead of a request of its own: base64 of anything. */
  request?: string
}

const key = generateSigner('ECDSA-P256', systemRandom)
const otherKey = generateSigner('ECDSA-P256', systemRandom)

/** A PKCS#10 request in PEM. With `wronglySigned` another key than the one inside has signed it. */
export async function requestPem(
  wanted: { commonName: string; organizations?: string[]; dnsNames?: string[] },
  wronglySigned = false,
): Promise<string> {
  const { commonName, organizations = [], dnsNames = [] } = wanted
  const signer = wronglySigned ? otherKey : key
  const info = encodeRequestInfo({
    subject: nameOf({ commonName, organizations }),
    spki: key.publicKey,
    subjectAltName: { dnsNames },
  })
  return encodePem('CERTIFICATE REQUEST', assembleSigned(info, signer.algorithm, await signer.sign(info)))
}

/** A CertificateSigningRequest as one would write it to a file. */
export async function requestObject(wanted: Wanted): Promise<Record<string, unknown>> {
  const { name, signerName, labels, expirationSeconds } = wanted
  const pem = await requestPem({ ...wanted, commonName: wanted.commonName ?? 'jane' })
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name, ...(labels && { labels }) },
    spec: {
      request: wanted.request ?? Buffer.from(pem).toString('base64'),
      signerName,
      usages: wanted.usages ?? ['digital signature', 'client auth'],
      ...(expirationSeconds !== undefined && { expirationSeconds }),
    },
  }
}
