import { RollcallError } from '../errors.ts'
import type { Signer } from '../keys/signer.ts'
import { parseIp } from '../x509/ip.ts'
import { nameOf } from '../x509/name.ts'
import { assembleSigned, encodeRequestInfo } from '../x509/request.ts'
import type { CertificateTemplate } from './template.ts'

/** The PKCS#10 request for a template in DER; without a SAN it has no attribute at all (K-36). */
export async function encodeSigningRequest(
  template: CertificateTemplate,
  signer: Signer,
): Promise<Uint8Array> {
  const info = encodeRequestInfo({
    subject: nameOf({ commonName: template.commonName, organizations: template.organizations }),
    spki: signer.publicKey,
    subjectAltName: { dnsNames: [...template.dnsNames], ipAddresses: template.ipAddresses.map(bytesOfIp) },
  })
  return assembleSigned(info, signer.algorithm, await signer.sign(info))
}

function bytesOfIp(address: string): Uint8Array {
  const bytes = parseIp(address)
  if (!bytes) throw new RollcallError('USAGE', `The template holds "${address}", which is no IP address.`)
  return bytes
}
