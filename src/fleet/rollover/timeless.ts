/** Certificates of a simulated clock for a TLS stack that reads the clock of the machine. */
import type { Signer } from '../../keys/signer.ts'
import { type Certificate, encodeTbsCertificate } from '../../x509/certificate.ts'
import { encodePem } from '../../x509/pem.ts'
import { assembleSigned } from '../../x509/request.ts'

const always = { notBefore: Date.parse('2000-01-01T00:00:00Z'), notAfter: Date.parse('2099-01-01T00:00:00Z') }

/** The same certificate but for its validity, signed again by its issuer's key; PEM. Its times are our own check's. */
export async function timeless(certificate: Certificate, issuer: Signer): Promise<string> {
  const tbs = encodeTbsCertificate({ ...certificate, ...always, algorithm: issuer.algorithm })
  return encodePem('CERTIFICATE', assembleSigned(tbs, issuer.algorithm, await issuer.sign(tbs)))
}
