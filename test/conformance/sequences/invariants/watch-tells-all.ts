import { isDeepStrictEqual } from 'node:util'
import type { Played } from '../play.ts'

interface Seen {
  metadata: { name: string; resourceVersion: string }
}
type Objects = Map<string, Seen>

/**
 * A watch from a list's version tells every change since, in order and once: what it tells makes the list of the end out
 * of the list of the beginning.
 */
export function watchTellsAll(played: readonly Played[]): string[] {
  const at = played.findIndex(({ step }) => step.until !== undefined)
  const { events = [] } = played[at]?.answer ?? {}
  const collection = played[at]?.step.url.split('?')[0]
  const first = played.find(({ step }) => step.url === collection)
  const objects: Objects = new Map(itemsOf(first).map(item => [item.metadata.name, item]))
  const wrong: string[] = []
  let version = 0
  for (const { type, object } of events) {
    const {
      kind: _kind,
      apiVersion: _version,
      ...seen
    } = object as Seen & { kind: string; apiVersion: string }
    const { name, resourceVersion } = seen.metadata
    if (Number(resourceVersion) <= version) wrong.push(`version ${resourceVersion} after ${version}`)
    version = Number(resourceVersion)
    if ((type === 'ADDED') === objects.has(name)) wrong.push(`${type} of ${name}, out of turn`)
    if (type === 'DELETED') objects.delete(name)
    else objects.set(name, seen)
  }
  const told = new Set(events.map(({ object }) => (object as Seen).metadata.resourceVersion))
  for (const one of played.slice(0, at)) {
    const written = versionWritten(one, collection)
    if (written !== undefined && !told.has(written)) wrong.push(`nothing of version ${written}`)
  }
  const now = new Map(itemsOf(played[at + 1]).map(item => [item.metadata.name, item]))
  if (!isDeepStrictEqual(sorted(objects), sorted(now)))
    wrong.push(`events make ${JSON.stringify(sorted(objects))}, the list is ${JSON.stringify(sorted(now))}`)
  return wrong.map(what => `step ${at}: ${what}`)
}

interface Written extends Seen {
  kind?: string
  metadata: Seen['metadata'] & { deletionTimestamp?: string; finalizers?: string[] }
}

/** Version that a write to the collection left; a dry run leaves none, nor does the one that ends a deletion. */
function versionWritten({ step, answer }: Played, collection = ''): string | undefined {
  if (step.method === 'GET' || !step.url.startsWith(collection) || !answer || answer.status >= 300)
    return undefined
  const { kind, metadata } = Object(answer.body) as Partial<Written>
  const isGone = metadata?.deletionTimestamp !== undefined && !metadata.finalizers?.length
  return kind === 'ConfigMap' && !isGone ? metadata?.resourceVersion : undefined
}

const itemsOf = (one: Played | undefined) => (Object(one?.answer?.body) as { items?: Seen[] }).items ?? []

const sorted = (objects: Objects) => [...objects].sort(([a], [b]) => (a < b ? -1 : 1))
