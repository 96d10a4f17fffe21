/** One line a request, as Kubernetes' audit log has them at level Metadata: who did what to which object, never content. */
import type { ApiRequest, Peer } from '../../kube/transport.ts'
import type { Status, UserInfo } from '../../kube/types.ts'
import type { Identity } from '../access/access.ts'
import type { RequestInfo } from '../request-info.ts'

/** Gets each line, with its newline. Must not throw. */
export type AuditSink = (line: string) => void

export interface AuditFacts {
  id: string
  /** Absent: ResponseComplete. */
  stage?: 'ResponseStarted' | undefined
  request: ApiRequest
  peer: Peer
  info: RequestInfo
  /** Absent when nobody could be authenticated. */
  identity: Identity | undefined
  /** HTTP status, and the Status where the answer is one. */
  code: number
  status: Status | undefined
  /** Milliseconds since the epoch. */
  received: number
  completed: number
}

/** Many lines are of the same millisecond. */
let lastTime = { time: Number.NaN, text: '' }

function microTime(time: number): string {
  if (lastTime.time !== time) lastTime = { time, text: `${new Date(time).toISOString().slice(0, -1)}000Z` }
  return lastTime.text
}

const quoted = (text: string) => JSON.stringify(text)

function userJson({ username, uid, groups, extra }: UserInfo): string {
  return JSON.stringify({
    username,
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && { extra }),
  })
}

const users = new WeakMap<UserInfo, string>()

/** A credential gives the same object with each request. */
function userOf(user: UserInfo): string {
  let json = users.get(user)
  if (json === undefined) {
    json = userJson(user)
    users.set(user, json)
  }
  return json
}

/** The line of an audit.k8s.io/v1 Event: when the answer is complete, or begins and will go on for long. */
export function auditLine(facts: AuditFacts): string {
  const { id, stage = 'ResponseComplete', request, info, identity, status, peer, code } = facts
  const real = identity?.impersonatedBy ?? identity?.user
  const program = request.headers['user-agent']
  const ending = status && { status: status.status, message: status.message, reason: status.reason }
  // Written by hand: there is one for each request, and most of it is the same.
  return (
    `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"${id}","stage":"${stage}"` +
    `,"requestURI":${quoted(request.url)},"verb":${quoted(info.verb)},"user":${real ? userOf(real) : '{}'}` +
    (identity?.impersonatedBy ? `,"impersonatedUser":${userOf(identity.user)}` : '') +
    `,"sourceIPs":[${quoted(peer.remoteAddress)}]` +
    (program ? `,"userAgent":${quoted(program)}` : '') +
    (info.resource ? `,"objectRef":${JSON.stringify(objectRef(info.resource))}` : '') +
    `,"responseStatus":${JSON.stringify({ metadata: {}, ...ending, code })}` +
    `,"requestReceivedTimestamp":"${microTime(facts.received)}","stageTimestamp":"${microTime(facts.completed)}"}\n`
  )
}

function objectRef({
  group,
  version,
  plural,
  subresource,
  namespace,
  name,
}: NonNullable<RequestInfo['resource']>) {
  return {
    resource: plural,
    ...(namespace && { namespace }),
    ...(name && { name }),
    ...(group && { apiGroup: group }),
    apiVersion: version,
    ...(subresource && { subresource }),
  }
}
