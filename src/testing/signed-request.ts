import type { Signer } from '../keys/signer.ts'
import { nameOf } from '../x509/name.ts'
import { encodePem } from '../x509/pem.ts'
import { assembleSigned, encodeRequestInfo } from '../x509/request.ts'
import type { SubjectAltName } from '../x509/san.ts'

export interface RequestContent {
  signer: Signer
  commonName: string
  organizations?: readonly string[]
  subjectAltName?: Partial<SubjectAltName>
}

/** A PKCS#10 request in PEM, signed with its own key. */
export async function signedRequest(content: RequestContent): Promise<string> {
  const { signer, commonName, organizations = ['system:nodes'], subjectAltName } = content
  const subject = nameOf({ commonName, organizations })
  const tbs = encodeRequestInfo({
    subject,
    spki: signer.publicKey,
    ...(subjectAltName ? { subjectAltName } : {}),
  })
  return encodePem('CERTIFICATE REQUEST', assembleSigned(tbs, signer.algorithm, await signer.sign(tbs)))
}
