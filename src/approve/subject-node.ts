import { commonNames } from '../x509/name.ts'
import type { CertificateRequest } from '../x509/request.ts'
import { isNodeName } from './canonical-name.ts'
import { lastFound } from './last-found.ts'
import { nodeUserPrefix } from './requester.ts'

/** Whether any common name claims to be a node's, however malformed the rest of the subject is. */
export function claimsNode(request: CertificateRequest): boolean {
  return commonNames(request.subject).some(name => name.startsWith(nodeUserPrefix))
}

/** The node that the subject stands for: its only common name is `system:node:<valid name>`; else undefined. */
export const subjectNode: (request: CertificateRequest) => string | undefined = lastFound(request => {
  const [commonName, ...more] = commonNames(request.subject)
  if (commonName === undefined || more.length > 0 || !commonName.startsWith(nodeUserPrefix)) return undefined
  const nodeName = commonName.slice(nodeUserPrefix.length)
  return isNodeName(nodeName) ? nodeName : undefined
})
