import { generateSigner } from '../keys/private-key.ts'
import type { Secret } from '../keys/secret.ts'
import { issueCertificate } from '../keys/self-signed.ts'
import type { Signer } from '../keys/signer.ts'
import type { Random } from '../ports.ts'
import type { Certificate } from '../x509/certificate.ts'
import { parseIp } from '../x509/ip.ts'
import { nameOf } from '../x509/name.ts'
import { usagesOfWords } from '../x509/usages.ts'

export interface CertificateAuthority {
  /** PEM of the one certificate. */
  pem: string
  certificate: Certificate
  signer: Signer
}

export interface KeyPair {
  /** PEM. */
  certificate: string
  key: Secret
}

export interface PairRequest {
  commonName: string
  organizations: readonly string[]
  usage: 'server auth' | 'client auth'
  dnsNames?: readonly string[]
  ipAddresses?: readonly string[]
  /** Milliseconds. */
  lifetime: number
  /** Milliseconds since the epoch. */
  now: number
}

/** Signers backdate by five minutes (C-35), so that a machine whose clock is a little behind accepts the certificate. */
const backdate = 5 * 60_000

/** A new key and its certificate from the CA: for the control plane's own certificates. */
export async function issuePair(
  ca: CertificateAuthority,
  request: PairRequest,
  random: Random,
): Promise<KeyPair> {
  const { commonName, organizations, now, lifetime } = request
  const signer = generateSigner('ECDSA-P256', random)
  const { keyUsage, extendedKeyUsage } = usagesOfWords(['digital signature', request.usage])
  const certificate = await issueCertificate({
    ca,
    subject: nameOf({ commonName, organizations }),
    spki: signer.publicKey,
    notBefore: now - backdate,
    notAfter: Math.min(now + lifetime, ca.certificate.notAfter),
    random,
    extensions: {
      keyUsage,
      extendedKeyUsage,
      subjectAltName: {
        dnsNames: [...(request.dnsNames ?? [])],
        ipAddresses: (request.ipAddresses ?? []).map(ipBytes),
      },
    },
  })
  return { certificate, key: signer.exportPem() }
}

function ipBytes(text: string): Uint8Array {
  const bytes = parseIp(text)
  if (!bytes) throw new RangeError(`${JSON.stringify(text)} is no IP address`)
  return bytes
}
