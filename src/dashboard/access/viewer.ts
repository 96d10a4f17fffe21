import type { Api } from '../../apiserver/api.ts'
import { inProcessTransport } from '../../apiserver/in-process-transport.ts'
import { createClient, isStatus, type KubeClient } from '../../kube/client.ts'
import { reviewSelf } from '../../kube/self-subject-review.ts'
import type { ApiRequest, Peer } from '../../kube/transport.ts'
import { type KubeObject, resources, type UserInfo } from '../../kube/types.ts'
import { type Credential, isSessionToken, type Session, type Sessions } from './sessions.ts'

/** Who looks at the dashboard. `client` is he himself to the API: authenticated and authorized anew at each call. */
export interface Viewer {
  client: KubeClient
  credential: Credential
  /** Absent: he came with a credential for the API. */
  session?: { token: string; state: Session }
}

/** The credential of the request, whether or not it is good for anything; undefined: a session that is over. */
export function viewerOf(
  request: ApiRequest,
  peer: Peer,
  { api, sessions }: { api: Api; sessions: Sessions },
): Viewer | undefined {
  const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const own = token !== undefined && isSessionToken(token)
  const state = own ? sessions.find(token) : undefined
  if (own && !state) return undefined
  const credential = state?.credential ?? { peer, headers: credentialHeaders(request) }
  return {
    client: createClient(inProcessTransport(api, credential.peer, credential.headers)),
    credential,
    ...(own && state && { session: { token, state } }),
  }
}

function credentialHeaders({ headers }: ApiRequest): Record<string, string> {
  const proving = Object.entries(headers).filter(
    ([name]) => name === 'authorization' || name.startsWith('impersonate-'),
  )
  return Object.fromEntries(proving)
}

const nobody: UserInfo = { username: 'system:anonymous', groups: [] }

/** As the API knows him. Rejects with an ApiStatusError 401 for a credential that is good for nobody. */
export async function identityOf({ client }: Viewer): Promise<UserInfo> {
  try {
    const { status } = await reviewSelf(client)
    return status?.userInfo ?? nobody
  } catch (error) {
    // Whoever is logged in may ask who he is.
    if (isStatus(error, 'Forbidden')) return nobody
    throw error
  }
}

export interface Right {
  group?: string
  resource: string
  subresource?: string
  verb: string
  name?: string
}

/** Whether the viewer may, by the API's own answer. */
export async function mayDo({ client }: Viewer, right: Right): Promise<boolean> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    metadata: { name: '' },
    spec: { resourceAttributes: right },
  }
  const { status } = await client.create<KubeObject & { status?: { allowed?: boolean } }>(
    resources.selfSubjectAccessReviews,
    review,
  )
  return status?.allowed === true
}
