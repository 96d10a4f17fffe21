import { isDeepStrictEqual } from 'node:util'
import type { Played } from '../play.ts'

interface Seen {
  kind?: string
  metadata?: {
    name?: string
    uid?: string
    resourceVersion?: string
    creationTimestamp?: string
    deletionTimestamp?: string
    finalizers?: string[]
  }
}

/** `gone`: it was deleted. Absent: nobody knows. */
type State = Map<string, Seen | 'gone'>

/**
 * What was written is read, and nothing else; a dry run leaves nothing; a write that names a version goes through only
 * on that version, a creation only where nothing is, a deletion only where its preconditions hold.
 */
export function readsTellWrites(played: readonly Played[]): string[] {
  const state: State = new Map()
  return played.flatMap((one, at) => judge(state, one).map(what => `step ${at}: ${what}`))
}

function judge(state: State, { step, answer }: Played): string[] {
  if (!answer || step.until !== undefined) return []
  const [path = '', query = ''] = step.url.split('?')
  const { status, body } = answer
  const url = objectUrl(path)
  if (step.method === 'GET')
    return status === 200 || status === 404 ? read(state, path, { step, answer }) : []
  if (status >= 300) return []
  if (step.method === 'DELETE' && !url.isObject) {
    for (const known of [...state.keys()]) if (known.startsWith(`${path}/`)) state.delete(known)
    return []
  }
  // Not stored: TokenRequest and reviews.
  if (step.method === 'POST' && (url.isObject || isReview(body))) return []
  const seen = body as Seen
  const at = step.method === 'POST' ? `${path}/${seen.metadata?.name}` : url.object
  const before = state.get(at)
  const wrong = step.method === 'DELETE' ? deleted(before, step.body) : written(before, seen, step)
  if (!isDryRun(query, step.body)) state.set(at, isGone(step.method, seen) ? 'gone' : seen)
  return wrong
}

const isReview = (body: unknown) => /Review$/.test((body as Seen).kind ?? '')

function read(state: State, path: string, { step, answer }: Played): string[] {
  const known = state.get(path)
  const accept = step.headers?.accept ?? 'application/json'
  if (!known || !answer || accept !== 'application/json' || step.as) return []
  if (known === 'gone') return answer.status === 404 ? [] : ['what was deleted is there']
  return isDeepStrictEqual(answer.body, known)
    ? []
    : [`read ${JSON.stringify(answer.body)} where ${JSON.stringify(known)} was written`]
}

const isDryRun = (query: string, body = '') =>
  query.includes('dryRun=All') || body.includes('"dryRun":["All"]')

/** An object that is being deleted goes with its last finalizer. */
function isGone(method: string, { kind, metadata = {} }: Seen): boolean {
  const waits = (metadata.finalizers ?? []).length > 0
  return method === 'DELETE'
    ? kind === 'Status' || !waits
    : metadata.deletionTimestamp !== undefined && !waits
}

function written(
  before: Seen | 'gone' | undefined,
  seen: Seen,
  { method, body = '' }: Played['step'],
): string[] {
  if (method === 'POST') return before && before !== 'gone' ? ['created where something is'] : []
  if (!before || before === 'gone') return []
  const wrong: string[] = []
  const given = /"resourceVersion":"(\d+)"/.exec(body)?.[1]
  if (given && given !== '0' && given !== before.metadata?.resourceVersion)
    wrong.push(`written with version ${given} over ${before.metadata?.resourceVersion}`)
  for (const field of ['uid', 'creationTimestamp', 'name'] as const)
    if (seen.metadata?.[field] !== before.metadata?.[field]) wrong.push(`an update changed metadata.${field}`)
  if (Number(seen.metadata?.resourceVersion) < Number(before.metadata?.resourceVersion))
    wrong.push('the version went back')
  return wrong
}

function deleted(before: Seen | 'gone' | undefined, body = '{}'): string[] {
  if (before === 'gone') return ['deleted what was gone']
  if (!before || !body.startsWith('{')) return []
  const preconditions = /"preconditions":\{"(uid|resourceVersion)":"([^"]*)"/.exec(body)
  const [, field, value] = preconditions ?? []
  if (!field || value === before.metadata?.[field as 'uid']) return []
  return [`deleted although ${field} was not ${value}`]
}

/** Namespaces are objects of the cluster; below them are collections, objects and their subresources. */
function objectUrl(path: string): { isObject: boolean; object: string } {
  const [, root = '', rest = ''] = /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)\/(.*)$/.exec(path) ?? []
  const parts = rest.split('/')
  const own = parts[0] === 'namespaces' && parts.length > 2 ? parts.splice(0, 2) : []
  const [plural = '', name] = parts
  const object = [root, ...own, plural, ...(name ? [name] : [])].join('/')
  return { isObject: name !== undefined, object }
}
