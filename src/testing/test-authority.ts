import type { CertificateTemplate } from '../join/template.ts'
import { generateSigner } from '../keys/private-key.ts'
import type { Secret } from '../keys/secret.ts'
import { issueCertificate, selfSignedCa } from '../keys/self-signed.ts'
import type { Signer } from '../keys/signer.ts'
import type { Random } from '../ports.ts'
import { type Certificate, parseCertificatesPem } from '../x509/certificate.ts'
import { parseIp } from '../x509/ip.ts'
import { nameOf } from '../x509/name.ts'
import { usagesOfWords } from '../x509/usages.ts'

/** When an issued certificate is valid, in milliseconds since the epoch. */
interface Lifetime {
  notBefore: number
  notAfter: number
}

/** A CA for tests that signs whatever it is asked to; Ed25519, so that a seed gives the same certificates. */
export interface TestAuthority {
  /** PEM. */
  certificate: string
  /** A certificate for the key in `spki`, PEM. */
  sign(template: CertificateTemplate, spki: Uint8Array, lifetime: Lifetime): Promise<string>
  /** A certificate with a new key. */
  issue(template: CertificateTemplate, lifetime: Lifetime): Promise<{ chain: string; key: Secret }>
}

export async function createTestAuthority(random: Random, commonName = 'test-ca'): Promise<TestAuthority> {
  const signer: Signer = generateSigner('Ed25519', random)
  const always = {
    notBefore: Date.parse('2000-01-01T00:00:00Z'),
    notAfter: Date.parse('2099-01-01T00:00:00Z'),
  }
  const certificate = await selfSignedCa({ commonName, signer, random, ...always })
  const [parsed] = parseCertificatesPem(certificate) as [Certificate]
  const sign: TestAuthority['sign'] = (template, spki, lifetime) => {
    const { unrecognized: _, ...usages } = usagesOfWords(template.usages)
    const ipAddresses = template.ipAddresses.map(parseIp).filter(address => address !== undefined)
    return issueCertificate({
      ca: { certificate: parsed, signer },
      subject: nameOf({ commonName: template.commonName, organizations: template.organizations }),
      spki,
      ...lifetime,
      random,
      extensions: { ...usages, subjectAltName: { dnsNames: [...template.dnsNames], ipAddresses } },
    })
  }
  return {
    certificate,
    sign,
    async issue(template, lifetime) {
      const leaf = generateSigner('Ed25519', random)
      return { chain: await sign(template, leaf.publicKey, lifetime), key: leaf.exportPem() }
    },
  }
}
