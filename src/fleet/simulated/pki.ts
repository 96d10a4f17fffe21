import { generateSigner, type PrivateKeySigner } from '../../keys/private-key.ts'
import { issueCertificate, selfSignedCa } from '../../keys/self-signed.ts'
import type { ConnectionConfig } from '../../kube/transport.ts'
import { type Certificate, parseCertificatesPem } from '../../x509/certificate.ts'
import { parseIp } from '../../x509/ip.ts'
import { nameOf } from '../../x509/name.ts'
import { oids } from '../../x509/oid.ts'
import type { SeededRandom } from './random.ts'

const year = 365 * 86_400_000
const hour = 3_600_000

export type ClientCredential = NonNullable<ConnectionConfig['clientCertificate']>

/** The cluster's own keys and certificates: Ed25519, drawn from the seed, so every byte is the same in each run. */
export interface SimulatedPki {
  ca: { pem: string; certificate: Certificate; signer: PrivateKeySigner }
  /** PEM of the API server's serving certificate. */
  serving: string
  /** A client certificate that outlives the simulation. */
  issueClient(subject: { commonName: string; organizations: readonly string[] }): Promise<ClientCredential>
}

/** `start`: ms since the epoch at which the world begins. `address`: the API server's IP address. */
export async function createPki(random: SeededRandom, start: number, address: string): Promise<SimulatedPki> {
  // Dated back by a day: a machine whose clock is some hours behind can still connect.
  const validity = { notBefore: start - 24 * hour, notAfter: start + 10 * year }
  const signer = generateSigner('Ed25519', random)
  const pem = await selfSignedCa({ commonName: 'kubernetes', signer, ...validity, random })
  const certificate = parseCertificatesPem(pem)[0]
  const ip = parseIp(address)
  if (!certificate || !ip) throw new Error(`the PKI needs a CA certificate and an IP address, got ${address}`)
  const ca = { certificate, signer }
  const serving = await issueCertificate({
    ca,
    subject: nameOf({ commonName: 'kube-apiserver' }),
    spki: generateSigner('Ed25519', random).publicKey,
    ...validity,
    random,
    extensions: {
      keyUsage: ['digitalSignature'],
      extendedKeyUsage: [oids.serverAuth],
      subjectAltName: { dnsNames: ['kubernetes'], ipAddresses: [ip] },
    },
  })
  return {
    ca: { pem, certificate, signer },
    serving,
    async issueClient(subject) {
      const key = generateSigner('Ed25519', random)
      const extensions = { keyUsage: ['digitalSignature' as const], extendedKeyUsage: [oids.clientAuth] }
      const issued = { ca, subject: nameOf(subject), spki: key.publicKey, ...validity, random, extensions }
      return { certificate: await issueCertificate(issued), key: key.exportPem() }
    },
  }
}
