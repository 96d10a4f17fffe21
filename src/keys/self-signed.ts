import type { Random } from '../ports.ts'
import { type Certificate, encodeTbsCertificate } from '../x509/certificate.ts'
import { type ExtensionContent, encodeExtensions } from '../x509/certificate-extensions.ts'
import { sha1 } from '../x509/fingerprint.ts'
import { type Name, nameOf } from '../x509/name.ts'
import { encodePem } from '../x509/pem.ts'
import { parsePublicKey } from '../x509/public-key.ts'
import { assembleSigned } from '../x509/request.ts'
import { randomSerialNumber } from '../x509/serial-number.ts'
import type { Signer } from './signer.ts'

export interface SelfSignedCa {
  commonName: string
  signer: Signer
  /** Milliseconds since the epoch. */
  notBefore: number
  /** Milliseconds since the epoch. */
  notAfter: number
  random: Random
}

/** A root certificate as kubeadm makes it: CA:TRUE, signs certificates, has a key identifier. PEM. */
export async function selfSignedCa({ commonName, signer, random, ...times }: SelfSignedCa): Promise<string> {
  const subject = nameOf({ commonName })
  const extensions = encodeExtensions(
    {
      keyUsage: ['digitalSignature', 'keyEncipherment', 'keyCertSign'],
      basicConstraints: { ca: true },
      subjectKeyIdentifier: keyIdentifier(signer.publicKey),
      subjectAltName: { dnsNames: isPlainName(commonName) ? [commonName] : [] },
    },
    subject,
  )
  const { algorithm, publicKey: spki } = signer
  const serialNumber = randomSerialNumber(random)
  return sealed({ serialNumber, algorithm, issuer: subject, subject, spki, extensions, ...times }, signer)
}

export interface IssueCertificate {
  ca: { certificate: Certificate; signer: Signer }
  subject: Name
  /** SubjectPublicKeyInfo of the holder, in DER. */
  spki: Uint8Array
  /** Milliseconds since the epoch. */
  notBefore: number
  /** Milliseconds since the epoch. */
  notAfter: number
  random: Random
  /** The authority key identifier is added from the CA; basicConstraints is CA:FALSE unless given. */
  extensions: Omit<ExtensionContent, 'authorityKeyIdentifier'>
}

/** A certificate signed by the CA, PEM. For the cluster's own PKI and for tests; node certificates come from src/sign. */
export async function issueCertificate(to: IssueCertificate): Promise<string> {
  const { ca, subject, spki, notBefore, notAfter } = to
  const { subjectKeyIdentifier } = ca.certificate
  const content: ExtensionContent = {
    basicConstraints: { ca: false },
    ...to.extensions,
    ...(subjectKeyIdentifier === undefined ? {} : { authorityKeyIdentifier: subjectKeyIdentifier }),
  }
  const extensions = encodeExtensions(content, subject)
  const { algorithm } = ca.signer
  const serialNumber = randomSerialNumber(to.random)
  const issuer = ca.certificate.subject
  return sealed(
    { serialNumber, algorithm, issuer, subject, spki, extensions, notBefore, notAfter },
    ca.signer,
  )
}

/** RFC 5280 4.2.1.2 (1): SHA-1 of the key bits, as other implementations compute it. */
export function keyIdentifier(spki: Uint8Array): Uint8Array {
  return sha1(parsePublicKey(spki).bits)
}

async function sealed(fields: Parameters<typeof encodeTbsCertificate>[0], signer: Signer): Promise<string> {
  const tbs = encodeTbsCertificate(fields)
  return encodePem('CERTIFICATE', assembleSigned(tbs, signer.algorithm, await signer.sign(tbs)))
}

/** kubeadm puts the CA's name into the SAN as well; one that is no DNS name is left out. */
function isPlainName(name: string): boolean {
  return /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(name)
}
