/** The serving certificate of an attestation endpoint of its own: by the CA that nodes' serving certificates come from. */
import { generateSigner } from '../../keys/private-key.ts'
import type { Secret } from '../../keys/secret.ts'
import { issueCertificate } from '../../keys/self-signed.ts'
import type { Random } from '../../ports.ts'
import type { Authority } from '../../sign/authority.ts'
import { parseIp } from '../../x509/ip.ts'
import { nameOf } from '../../x509/name.ts'
import { oids } from '../../x509/oid.ts'

/** Milliseconds that it lives; a third before its end there is another one. */
export const endpointLifetime = 7 * 86_400_000
const skew = 300_000

/** `host`: name or IP address by which machines reach it. `now` in milliseconds since the epoch. */
export async function endpointCertificate(
  ca: Authority,
  host: string,
  now: number,
  random: Random,
): Promise<{ certificate: string; key: Secret }> {
  const signer = generateSigner('ECDSA-P256', random)
  const address = parseIp(host)
  const certificate = await issueCertificate({
    ca,
    subject: nameOf({ commonName: 'rollcall-attestation' }),
    spki: signer.publicKey,
    notBefore: now - skew,
    notAfter: Math.min(now + endpointLifetime, ca.certificate.notAfter),
    random,
    extensions: {
      keyUsage: ['digitalSignature'],
      extendedKeyUsage: [oids.serverAuth],
      subjectAltName: address ? { ipAddresses: [address] } : { dnsNames: [host] },
    },
  })
  return { certificate, key: signer.exportPem() }
}
