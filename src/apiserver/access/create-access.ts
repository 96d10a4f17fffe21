/** Puts the three together: who is it (authentication), may it (authorization), is the write in order (admission). */
import type { ApiRequest } from '../../kube/transport.ts'
import type { UserInfo } from '../../kube/types.ts'
import type { Clock, Log } from '../../ports.ts'
import type { ObjectReader } from '../reader.ts'
import type { Access, Identity } from './access.ts'
import { admit } from './admission/admit.ts'
import { authenticateBearer, authenticateToken, firstUser } from './authentication/authenticate.ts'
import { createClientCertificateAuthenticator } from './authentication/client-certificate-cache.ts'
import { impersonatedUser, impersonationRights } from './authentication/impersonation.ts'
import { impersonationRequested } from './authentication/impersonation-headers.ts'
import type { TokenIssuer } from './authentication/service-account/token-issuer.ts'
import { type Authorizer, createAuthorizer, withSelectedName } from './authorization/authorizer.ts'
import { forbidden } from './authorization/forbidden.ts'
import { createNodeGraph, type NodeGraph } from './authorization/node-graph.ts'

export interface AccessOptions {
  reader: ObjectReader
  clock: Clock
  /** PEM bundle that client certificates must chain to. */
  clientCertificateAuthorities: string
  log: Log
  /** What nodes may read because of their pods; made of the reader's pods when absent. */
  nodeGraph?: NodeGraph
  /** Absent: no service account has tokens. */
  tokenIssuer?: TokenIssuer
}

/** Throws X509_MALFORMED when the bundle cannot be read. */
export function createAccess(options: AccessOptions): Access {
  const { reader, clock, log } = options
  const clientCertificates = createClientCertificateAuthenticator(options.clientCertificateAuthorities)
  const tokens = { reader, issuer: options.tokenIssuer }
  const authorizer = createAuthorizer(reader, options.nodeGraph ?? createNodeGraph(reader))

  return {
    authenticate(request, peer) {
      const now = clock.now()
      const user = firstUser(
        [
          () => clientCertificates.authenticate(peer.certificates, now),
          () => authenticateBearer(request.headers.authorization, tokens, now),
        ],
        log,
      )
      return impersonate(request, user, authorizer)
    },

    authorize: authorizer.authorize,

    requireAllowed(attributes) {
      const { allowed, reason } = authorizer.authorize(attributes)
      if (!allowed) throw forbidden(withSelectedName(attributes), reason)
    },

    rulesFor: authorizer.rulesFor,

    authenticateToken(token, audiences) {
      const verdict = authenticateToken(token, tokens, clock.now(), audiences)
      return verdict.ok ? verdict : { ok: false, reason: verdict.reason }
    },

    admit: request => admit(request, authorizer, reader, options.tokenIssuer?.audiences ?? [], clock.now()),

    setClientCertificateAuthorities: pem => clientCertificates.trust(pem),
  }
}

/** Throws ApiError 403 for the first right that the user lacks. */
function impersonate(request: ApiRequest, user: UserInfo, authorizer: Authorizer): Identity {
  const wanted = impersonationRequested(request.headers)
  if (!wanted) return { user }
  for (const right of impersonationRights(wanted, user)) {
    const { allowed, reason } = authorizer.authorize(right)
    if (!allowed) throw forbidden(right, reason)
  }
  return { user: impersonatedUser(wanted), impersonatedBy: user }
}
