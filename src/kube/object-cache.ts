import type { KubeObject } from './types.ts'

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** What a cache learned. For DELETED, `object` is the last known state. */
export interface Change<T extends KubeObject> {
  type: ChangeType
  object: T
  /** Only for MODIFIED: the state before, as it was kept. */
  previous?: T
}

/** How much of what was told is kept. */
export interface Keeping<T extends KubeObject> {
  /** What is kept of an object after it was told; the same uid and resourceVersion. Absent: all of it. */
  condense?(object: T): T
  /**
   * Under which heading an object is only counted: nothing but its key is kept, and nothing is told of it any more until
   * it is something else. undefined: it is kept.
   */
  tally?(object: T): string | undefined
}

/** The key of an object within its collection: `namespace/name`, or `name` where it has no namespace. */
export function objectKey({ metadata }: KubeObject): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name
}

/**
 * A copy of a collection, fed by the pages of a list and, already between them, by the changes of a watch that began where
 * the list did: what the watch told of an object is newer than what a later page says.
 */
export class ObjectCache<T extends KubeObject> {
  readonly #objects = new Map<string, T>()
  readonly #tallied = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #keeping: Keeping<T>
  /** While pages are missing: which objects they did not show yet, and of which the watch told. */
  #listing: { unseen: Set<string>; told: Set<string> } | undefined

  constructor(keeping: Keeping<T> = {}) {
    this.#keeping = keeping
  }

  get(key: string): T | undefined {
    return this.#objects.get(key)
  }

  list(): T[] {
    return [...this.#objects.values()]
  }

  /** How many objects are only counted, by heading. */
  tallied(): ReadonlyMap<string, number> {
    return this.#counts
  }

  /** A list begins: what none of its pages shows is gone. */
  beginList(): void {
    this.#listing = { unseen: new Set([...this.#objects.keys(), ...this.#tallied.keys()]), told: new Set() }
  }

  /** Takes a page in. With the last one, deletions are told first. Nothing is told of a version that is known. */
  page(items: readonly T[], isLast: boolean): Change<T>[] {
    const { unseen, told } = this.#listing ?? { unseen: new Set<string>(), told: new Set<string>() }
    for (const item of items) unseen.delete(objectKey(item))
    const changes = isLast ? [...unseen].flatMap(key => this.#drop(key)) : []
    for (const item of items) {
      const known = this.#objects.get(objectKey(item))
      const { uid, resourceVersion } = item.metadata
      if (told.has(objectKey(item))) continue
      if (known?.metadata.uid === uid && known?.metadata.resourceVersion === resourceVersion) continue
      changes.push(...this.#keep(item))
    }
    if (isLast) this.#listing = undefined
    return changes
  }

  /** A new state, as a watch tells it. Another uid under the same name is a deletion and an addition. */
  put(object: T): Change<T>[] {
    this.#tell(object)
    return this.#keep(object)
  }

  /** A deletion, as a watch tells it; of an object that is not there nothing is told. */
  take(object: T): Change<T>[] {
    const key = objectKey(object)
    const known = this.#objects.get(key)
    const wasUnseen = this.#listing?.unseen.has(key) ?? false
    this.#tell(object)
    if (!known || known.metadata.uid === object.metadata.uid) return this.#drop(key, object)
    // Another object of that name: one from before the list is gone too, one that a page was ahead with is not.
    return wasUnseen ? this.#drop(key) : []
  }

  #tell(object: T): void {
    this.#listing?.told.add(objectKey(object))
    this.#listing?.unseen.delete(objectKey(object))
  }

  #keep(object: T): Change<T>[] {
    const key = objectKey(object)
    const previous = this.#objects.get(key)
    if (previous && previous.metadata.uid !== object.metadata.uid)
      return [...this.#drop(key), ...this.#keep(object)]
    const heading = this.#keeping.tally?.(object)
    const before = this.#tallied.get(key)
    if (before !== heading) this.#count(key, before, heading)
    if (heading === undefined) this.#objects.set(key, this.#keeping.condense?.(object) ?? object)
    else this.#objects.delete(key)
    if (previous) return [{ type: 'MODIFIED', object, previous }]
    return before !== undefined && before === heading ? [] : [{ type: 'ADDED', object }]
  }

  #drop(key: string, last = this.#objects.get(key)): Change<T>[] {
    this.#count(key, this.#tallied.get(key), undefined)
    return this.#objects.delete(key) && last ? [{ type: 'DELETED', object: last }] : []
  }

  #count(key: string, before: string | undefined, heading: string | undefined): void {
    if (before !== undefined) this.#counts.set(before, (this.#counts.get(before) ?? 0) - 1)
    if (heading === undefined) this.#tallied.delete(key)
    else {
      this.#counts.set(heading, (this.#counts.get(heading) ?? 0) + 1)
      this.#tallied.set(key, heading)
    }
  }
}
