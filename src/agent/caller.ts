import type { Peer } from '../kube/transport.ts'
import type { UserInfo } from '../kube/types.ts'
import { type Certificate, parseCertificate } from '../x509/certificate.ts'
import { verifyChain } from '../x509/chain.ts'
import { commonName, organizations } from '../x509/name.ts'

/** Who calls, or why that is not known. */
export type Caller = { ok: true; user: UserInfo } | { ok: false; why: string }

/**
 * Authenticates a caller of the node's HTTPS server by its client certificate (H-2): common name and organizations of a
 * certificate that chains to `roots` at `now` (milliseconds since the epoch). Nobody is anonymous here.
 */
export function callerOf(peer: Peer, roots: readonly Certificate[], now: number): Caller {
  if (!peer.certificates?.length) return { ok: false, why: 'no client certificate' }
  let chain: Certificate[]
  try {
    chain = peer.certificates.map(parseCertificate)
  } catch (error) {
    return { ok: false, why: error instanceof Error ? error.message : String(error) }
  }
  const verification = verifyChain(chain, roots, { now, usage: 'clientAuth' })
  if (!verification.ok) return { ok: false, why: verification.reason }
  const [leaf] = chain
  const username = leaf ? commonName(leaf.subject) : ''
  if (!leaf || username === '') return { ok: false, why: 'the client certificate has no common name' }
  return { ok: true, user: { username, groups: [...organizations(leaf.subject), 'system:authenticated'] } }
}
