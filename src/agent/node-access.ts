import type { KubeClient } from '../kube/client.ts'
import { resources, type SubjectAccessReview, type UserInfo } from '../kube/types.ts'
import type { Clock } from '../ports.ts'
import { askAgain } from './ask-again.ts'

/** What a request to the node's HTTPS server needs to be allowed for (H-3). */
export interface NodeRequest {
  verb: string
  /** One of them suffices, tried in this order. */
  subresources: readonly string[]
}

const verbs: Readonly<Record<string, string>> = {
  POST: 'create',
  GET: 'get',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

const subresourcesOfPath: readonly [path: string, subresources: readonly string[]][] = [
  ['/metrics', ['metrics']],
  ['/healthz', ['healthz', 'proxy']],
  ['/configz', ['configz', 'proxy']],
  ['/stats', ['stats']],
  ['/logs', ['log']],
  ['/pods', ['pods', 'proxy']],
  ['/runningpods', ['pods', 'proxy']],
  ['/checkpoint', ['checkpoint']],
  ['/statusz', ['statusz']],
  ['/flagz', ['configz']],
]

/** What changes something however it is asked for: a WebSocket begins as a GET. */
const streamed = ['exec', 'attach', 'run', 'portForward']

/**
 * H-3: the subresource of nodes that a path stands for; what is not listed is `proxy`. Stricter than a kubelet in one
 * thing: running a command is `create` by any method, so that nobody who may only `get` nodes/proxy can do it.
 */
export function nodeRequestOf(method: string, path: string): NodeRequest {
  if (streamed.includes(path.split('/')[1] ?? '')) return { verb: 'create', subresources: ['proxy'] }
  const known = subresourcesOfPath.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`))
  return { verb: verbs[method] ?? '', subresources: known?.[1] ?? ['proxy'] }
}

export interface NodeAccess {
  /** Whether the API lets the user do that with this node. Rejects when the API cannot be asked. */
  allows(user: UserInfo, request: NodeRequest): Promise<boolean>
}

/** Milliseconds for which answers are kept (H-2). */
const keepAllowed = 300_000
const keepDenied = 30_000
/** Answers that are kept at most; callers of a node are few. */
const mostKept = 1000

/** Asks the API by SubjectAccessReview, and keeps its answers for a while. */
export function createNodeAccess(options: {
  client: KubeClient
  clock: Clock
  nodeName: string
}): NodeAccess {
  const { client, clock, nodeName } = options
  const kept = new Map<string, { allowed: boolean; until: number }>()

  async function isAllowed(user: UserInfo, verb: string, subresource: string): Promise<boolean> {
    const { username, uid, groups, extra } = user
    const key = JSON.stringify([username, uid, groups, extra, verb, subresource])
    const known = kept.get(key)
    if (known && clock.monotonic() < known.until) return known.allowed
    const question: SubjectAccessReview = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: { name: '' },
      spec: {
        user: username,
        groups,
        ...(uid !== undefined && { uid }),
        ...(extra && { extra }),
        resourceAttributes: { verb, version: 'v1', resource: 'nodes', subresource, name: nodeName },
      },
    }
    const review = await askAgain(clock, () => client.create(resources.subjectAccessReviews, question))
    const allowed = review.status?.allowed === true
    const [oldest] = kept.keys()
    if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest)
    kept.set(key, { allowed, until: clock.monotonic() + (allowed ? keepAllowed : keepDenied) })
    return allowed
  }

  return {
    async allows(user, { verb, subresources }) {
      for (const subresource of subresources) if (await isAllowed(user, verb, subresource)) return true
      return false
    },
  }
}
