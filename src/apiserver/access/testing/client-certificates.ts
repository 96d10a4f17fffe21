import { generateSigner } from '../../../keys/private-key.ts'
import { issueCertificate, selfSignedCa } from '../../../keys/self-signed.ts'
import type { Signer } from '../../../keys/signer.ts'
import { seededRandom } from '../../../testing/seeded-random.ts'
import { type Certificate, parseCertificatesPem } from '../../../x509/certificate.ts'
import { encodeName, type NameAttribute } from '../../../x509/name.ts'
import { oids } from '../../../x509/oid.ts'

export const now = Date.parse('2026-03-01T12:00:00Z')
const hour = 3_600_000

export interface ClientCa {
  pem: string
  certificate: Certificate
  signer: Signer
}

export interface Leaf {
  commonName?: string
  organizations?: string[]
  uids?: string[]
  notBefore?: number
  notAfter?: number
  usage?: string
  /** Makes it an intermediate CA. */
  signer?: Signer
}

/** A root, valid an hour around `now` to ten. */
export async function clientCa(seed: number): Promise<ClientCa> {
  const random = seededRandom(seed)
  const signer = generateSigner('Ed25519', random)
  const pem = await selfSignedCa({
    commonName: `ca-${seed}`,
    signer,
    random,
    notBefore: now - 10 * hour,
    notAfter: now + 10 * hour,
  })
  const [certificate] = parseCertificatesPem(pem) as [Certificate]
  return { pem, certificate, signer }
}

function subjectOf({ commonName, organizations = [], uids = [] }: Leaf): NameAttribute[][] {
  return [
    ...organizations.map(value => [{ type: oids.organization, value }]),
    ...(commonName === undefined ? [] : [[{ type: oids.commonName, value: commonName }]]),
    ...uids.map(value => [{ type: '1.3.6.1.4.1.57683.2', value }]),
  ]
}

/** A certificate of the CA in DER, for client authentication unless another usage is given. */
export async function issue(ca: ClientCa, leaf: Leaf): Promise<Uint8Array> {
  const random = seededRandom(77)
  const signer = leaf.signer ?? generateSigner('Ed25519', random)
  const rdns = subjectOf(leaf)
  const pem = await issueCertificate({
    ca,
    subject: { raw: encodeName(rdns), rdns },
    spki: signer.publicKey,
    notBefore: leaf.notBefore ?? now - hour,
    notAfter: leaf.notAfter ?? now + hour,
    random,
    extensions: leaf.signer
      ? { basicConstraints: { ca: true }, keyUsage: ['keyCertSign'] }
      : { keyUsage: ['digitalSignature'], extendedKeyUsage: [leaf.usage ?? oids.clientAuth] },
  })
  const [certificate] = parseCertificatesPem(pem) as [Certificate]
  return certificate.raw
}
