/** Whether verified claims hold now: times, audiences, and that everything they are bound to is still there. */
import { type KubeObject, type ResourceRef, resources, type UserInfo } from '../../../../kube/types.ts'
import type { ObjectReader } from '../../../reader.ts'
import { authenticatedUser, serviceAccountUserName, systemGroups } from '../../system-identities.ts'
import type { BoundObject, TokenClaims } from './token-claims.ts'

export type ClaimsVerdict =
  | { ok: true; user: UserInfo; audiences: readonly string[] }
  | { ok: false; reason: string }

/** Seconds that clocks may differ, and that a deleted object's tokens live on (go-jose's leeway). */
const LEEWAY = 60

const refused = (reason: string): ClaimsVerdict => ({ ok: false, reason })

const goList = (values: readonly string[]) => `[${values.map(value => JSON.stringify(value)).join(' ')}]`

/**
 * `audiences`: those wanted, at least one of which the token must have. `now` in milliseconds since the epoch. The
 * reasons are Kubernetes' own; a TokenReview shows them.
 */
export function judgeClaims(
  claims: TokenClaims,
  audiences: readonly string[],
  reader: ObjectReader,
  now: number,
): ClaimsVerdict {
  const common = claims.aud.filter(audience => audiences.includes(audience))
  if (common.length === 0) {
    const [own, wanted] = [goList(claims.aud), goList(audiences)]
    return refused(`token audiences ${own} is invalid for the target audiences ${wanted}`)
  }
  const reason = timeComplaint(claims, now / 1000) ?? objectComplaint(claims, reader, now)
  return reason === undefined ? { ok: true, user: userOf(claims), audiences: common } : refused(reason)
}

function timeComplaint({ exp, nbf, iat }: TokenClaims, seconds: number): string | undefined {
  if (seconds + LEEWAY < nbf) return 'service account token is not valid yet'
  if (seconds - LEEWAY > exp) return 'service account token has expired'
  return seconds + LEEWAY < iat ? 'service account token is issued in the future' : undefined
}

/** Deleted longer ago than clocks may differ. */
function isGone(object: KubeObject | undefined, now: number): boolean {
  const deleted = object?.metadata.deletionTimestamp
  return deleted !== undefined && Date.parse(deleted) < now - LEEWAY * 1000
}

function objectComplaint(claims: TokenClaims, reader: ObjectReader, now: number): string | undefined {
  const { namespace, serviceaccount, pod, node, secret } = claims['kubernetes.io']
  const account = reader.get(resources.serviceAccounts, serviceaccount.name, namespace)
  if (!account) return `serviceaccounts "${serviceaccount.name}" not found`
  if (isGone(account, now)) return `service account ${namespace}/${serviceaccount.name} has been deleted`
  if (account.metadata.uid !== serviceaccount.uid)
    return `service account UID (${account.metadata.uid}) does not match claim (${serviceaccount.uid})`
  const bound = (kind: string, resource: ResourceRef, reference: BoundObject | undefined, within = '') => {
    if (!reference) return undefined
    const object = reader.get(resource, reference.name, within)
    if (!object || isGone(object, now)) return 'service account token has been invalidated'
    if (object.metadata.uid === reference.uid) return undefined
    return `${kind} UID (${object.metadata.uid}) does not match service account ${kind} ref claim (${reference.uid})`
  }
  return (
    bound('secret', resources.secrets, secret, namespace) ??
    bound('pod', resources.pods, pod, namespace) ??
    // A pod's token names the pod's node too, which need not be there for it.
    (pod ? undefined : bound('node', resources.nodes, node))
  )
}

function userOf(claims: TokenClaims): UserInfo {
  const { namespace, serviceaccount, pod, node } = claims['kubernetes.io']
  const facts: [key: string, value: string | undefined][] = [
    ['credential-id', claims.jti && `JTI=${claims.jti}`],
    ['node-name', node?.name],
    ['node-uid', node?.uid],
    ['pod-name', pod?.name],
    ['pod-uid', pod?.uid],
  ]
  const extra = Object.fromEntries(
    facts.flatMap(([key, value]) => (value ? [[`authentication.kubernetes.io/${key}`, [value]]] : [])),
  )
  return authenticatedUser({
    username: serviceAccountUserName(namespace, serviceaccount.name),
    ...(serviceaccount.uid && { uid: serviceaccount.uid }),
    groups: [systemGroups.serviceAccounts, `${systemGroups.serviceAccounts}:${namespace}`],
    extra,
  })
}
