import { RollcallError } from '../errors.ts'
import { type CertificateTemplate, subjectAltNamesOf, usagesFor } from '../join/template.ts'
import { generateSigner, type KeyAlgorithm } from '../keys/private-key.ts'
import type { Secret } from '../keys/secret.ts'
import { issueCertificate, selfSignedCa } from '../keys/self-signed.ts'
import type { Clock, Random } from '../ports.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { parseIp } from '../x509/ip.ts'
import { nameOf } from '../x509/name.ts'
import { usagesOfWords } from '../x509/usages.ts'

const hour = 3_600_000

/** K-71: the node's name is the only SAN, as an IP address where it is one. No signer: the node signs it itself. */
export function selfSignedTemplate(nodeName: string, algorithm: KeyAlgorithm): CertificateTemplate {
  return {
    commonName: nodeName,
    organizations: [],
    ...subjectAltNamesOf([{ type: 'Hostname', address: nodeName }]),
    usages: usagesFor('server auth', algorithm),
    signerName: '',
  }
}

/** K-71: a leaf under a CA made for it alone, for a year from an hour ago; the chain holds both. */
export async function issueSelfSigned(
  template: CertificateTemplate,
  algorithm: KeyAlgorithm,
  { clock, random }: { clock: Clock; random: Random },
): Promise<{ chain: string; key: Secret }> {
  const now = Math.floor(clock.now() / 1000) * 1000
  const lifetime = { notBefore: now - hour, notAfter: now + 365 * 24 * hour }
  const caSigner = generateSigner(algorithm, random)
  const commonName = `${template.commonName}-ca@${now / 1000}`
  const ca = await selfSignedCa({ commonName, signer: caSigner, ...lifetime, random })
  const [certificate] = parseCertificatesPem(ca)
  if (!certificate) throw new RollcallError('X509_MALFORMED', 'The CA made just now cannot be read back.')
  const signer = generateSigner(algorithm, random)
  const { keyUsage, extendedKeyUsage } = usagesOfWords(template.usages)
  const leaf = await issueCertificate({
    ca: { certificate, signer: caSigner },
    subject: nameOf({ commonName: template.commonName }),
    spki: signer.publicKey,
    ...lifetime,
    random,
    extensions: {
      keyUsage,
      extendedKeyUsage,
      subjectAltName: {
        dnsNames: [...template.dnsNames],
        ipAddresses: template.ipAddresses.map(parseIp).filter(address => address !== undefined),
      },
    },
  })
  return { chain: leaf + ca, key: signer.exportPem() }
}
