import type { KubeObject } from './types.ts'

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** What a cache learned. For DELETED, `object` is the last known state. */
export interface Change<T extends KubeObject> {
  type: ChangeType
  object: T
  /** Only for MODIFIED: the state before. */
  previous?: T
}

/** The key of an object within its collection: `namespace/name`, or `name` where it has no namespace. */
export function objectKey({ metadata }: KubeObject): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name
}

/** Takes a new state in and tells what changed. Another uid under the same name is a deletion and an addition. */
export function put<T extends KubeObject>(cache: Map<string, T>, object: T): Change<T>[] {
  const key = objectKey(object)
  const previous = cache.get(key)
  if (!previous) {
    cache.set(key, object)
    return [{ type: 'ADDED', object }]
  }
  if (previous.metadata.uid !== object.metadata.uid) {
    return [...take(cache, previous), ...put(cache, object)]
  }
  cache.set(key, object)
  return [{ type: 'MODIFIED', object, previous }]
}

/** Takes an object out; of one that is not there nothing is told. */
export function take<T extends KubeObject>(cache: Map<string, T>, object: T): Change<T>[] {
  const known = cache.delete(objectKey(object))
  return known ? [{ type: 'DELETED', object }] : []
}

/** Makes the cache equal to a list. Tells deletions first, and nothing of objects whose version is the same. */
export function replaceAll<T extends KubeObject>(cache: Map<string, T>, items: readonly T[]): Change<T>[] {
  const present = new Set(items.map(objectKey))
  const gone = [...cache.values()].filter(object => !present.has(objectKey(object)))
  const changes = gone.flatMap(object => take(cache, object))
  for (const item of items) {
    const known = cache.get(objectKey(item))
    const { uid, resourceVersion } = item.metadata
    if (known?.metadata.uid === uid && known?.metadata.resourceVersion === resourceVersion) continue
    changes.push(...put(cache, item))
  }
  return changes
}
