/** What the approval of an attested machine's request reads from its NodeIdentity, and writes there. */
import { isStatus, type KubeClient } from '../kube/client.ts'
import { isDenied, isFailed, isIssued } from '../kube/csr-conditions.ts'
import { type NodeIdentityObject, nodeIdentities } from '../kube/rollcall/node-identity.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import type { AttestationFacts } from './facts.ts'
import { requesterOf } from './requester.ts'

/** As the API has it now: the token was written there a moment ago. Rejects as the client does. */
export async function readAttestation(
  { client, cached }: { client: KubeClient; cached(name: string): CertificateSigningRequest | undefined },
  csr: CertificateSigningRequest,
  nodeName: string,
  signal: AbortSignal,
): Promise<AttestationFacts> {
  const identity = await client
    .get<NodeIdentityObject>(nodeIdentities, { name: nodeName }, signal)
    .catch(error => {
      if (isStatus(error, 'NotFound')) return undefined
      throw error
    })
  const before = identity && tokenOf(identity, csr)?.request
  if (!before || before.uid === csr.metadata.uid) return identity ? { identity } : {}
  const request = cached(before.name)
  return { identity, usedBefore: request?.metadata.uid === before.uid ? fateOf(request) : 'gone' }
}

/**
 * Writes down that the token is used for this request, before it is approved. False: somebody wrote meanwhile, and it has
 * to be judged anew.
 */
export async function useToken(
  client: KubeClient,
  { identity }: AttestationFacts,
  csr: CertificateSigningRequest,
  signal: AbortSignal,
): Promise<boolean> {
  const token = identity && tokenOf(identity, csr)
  if (!identity || !token) return false
  const { name, uid = '' } = csr.metadata
  if (token.request?.uid === uid) return true
  const tokens = identity.status?.tokens?.map(other =>
    other.id === token.id ? { ...other, request: { name, uid } } : other,
  )
  const status = { ...identity.status, tokens }
  try {
    await client.update(nodeIdentities, { ...identity, status }, { subresource: 'status', signal })
    return true
  } catch (error) {
    if (isStatus(error, 'Conflict') || isStatus(error, 'NotFound')) return false
    throw error
  }
}

function tokenOf(identity: NodeIdentityObject, csr: CertificateSigningRequest) {
  const requester = requesterOf(csr, undefined)
  return requester.kind === 'attested'
    ? identity.status?.tokens?.find(({ id }) => id === requester.tokenId)
    : undefined
}

function fateOf(request: CertificateSigningRequest): NonNullable<AttestationFacts['usedBefore']> {
  if (isIssued(request)) return 'issued'
  return isDenied(request) || isFailed(request) ? 'refused' : 'open'
}
