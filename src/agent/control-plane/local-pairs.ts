/** Certificates of this node's own control plane, made on the spot by a CA whose key is here. */
import { generateSigner } from '../../keys/private-key.ts'
import type { Secret } from '../../keys/secret.ts'
import { issueCertificate } from '../../keys/self-signed.ts'
import type { Random } from '../../ports.ts'
import { type Certificate, parseCertificatesPem } from '../../x509/certificate.ts'
import { type Name, nameOf } from '../../x509/name.ts'
import { oids } from '../../x509/oid.ts'
import { keyIdOf, type LocalAuthority } from './authorities.ts'

export interface LocalPair {
  certificate: string
  key: Secret
}

/** kubeadm's: certificates of the control plane live a year. Signers backdate by five minutes (C-35). */
const lifetime = 365 * 86_400_000
const backdate = 5 * 60_000

export interface LocalPairRequest {
  subject: Name
  usage: 'serverAuth' | 'clientAuth'
  dnsNames?: readonly string[]
  ipAddresses?: readonly Uint8Array[]
}

export async function issueLocally(
  ca: Pick<LocalAuthority, 'certificate' | 'signer'>,
  { subject, usage, dnsNames = [], ipAddresses = [] }: LocalPairRequest,
  { now, random }: { now: number; random: Random },
): Promise<LocalPair> {
  const signer = generateSigner('ECDSA-P256', random)
  const certificate = await issueCertificate({
    ca,
    subject,
    spki: signer.publicKey,
    notBefore: now - backdate,
    notAfter: Math.min(now + lifetime, ca.certificate.notAfter),
    random,
    extensions: {
      keyUsage: ['digitalSignature', 'keyEncipherment'],
      extendedKeyUsage: [oids[usage]],
      ...(dnsNames.length + ipAddresses.length > 0 && {
        subjectAltName: { dnsNames: [...dnsNames], ipAddresses: [...ipAddresses] },
      }),
    },
  })
  return { certificate, key: signer.exportPem() }
}

/** Nobody: whether an API server takes certificates of a CA is tried with it. */
export const canarySubject = nameOf({ commonName: 'rollcall:canary', organizations: [] })

/** The same subject and names as a certificate that is there. */
export function likeThis(
  { subject, subjectAltName }: Certificate,
  usage: LocalPairRequest['usage'],
): LocalPairRequest {
  return {
    subject,
    usage,
    ...(subjectAltName && {
      dnsNames: subjectAltName.dnsNames,
      ipAddresses: subjectAltName.ipAddresses,
    }),
  }
}

/** Whether the first certificate of the PEM is of this CA, and has more than a third of its life left. */
export function isOf(pem: string | undefined, authority: LocalAuthority, now: number): boolean {
  const leaf = leafOf(pem)
  const issuer = leaf?.authorityKeyIdentifier && Buffer.from(leaf.authorityKeyIdentifier).toString('hex')
  if (!leaf || issuer === undefined || issuer !== keyIdOf(authority.certificate)) return false
  return now < leaf.notAfter - (leaf.notAfter - leaf.notBefore) / 3
}

/** undefined for text that holds no certificate. */
export function leafOf(pem: string | undefined): Certificate | undefined {
  if (pem === undefined) return undefined
  try {
    return parseCertificatesPem(pem)[0]
  } catch {
    return undefined // a file that was spoiled is written anew
  }
}
