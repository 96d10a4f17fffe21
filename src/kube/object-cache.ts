import { TalliedKeys } from './tallied-keys.ts'
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

/** Which objects the pages did not show yet, kept ones and counted ones, and of which the watch told. */
interface Listing {
  unseen: Set<string>
  unseenTallied: TalliedKeys
  told: Set<string>
}

const noListing = (): Listing => ({ unseen: new Set(), unseenTallied: new TalliedKeys(), told: new Set() })

/**
 * A copy of a collection, fed by the pages of a list and, already between them, by the changes of a watch that began where
 * the list did: what the watch told of an object is newer than what a later page says.
 */
export class ObjectCache<T extends KubeObject> {
  readonly #objects = new Map<string, T>()
  readonly #tallied = new TalliedKeys()
  readonly #keeping: Keeping<T>
  /** While pages are missing. */
  #listing: Listing | undefined

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
    return this.#tallied.counts()
  }

  /** A list begins: what none of its pages shows is gone. */
  beginList(): void {
    const unseen = new Set(this.#objects.keys())
    this.#listing = { unseen, unseenTallied: this.#tallied.copy(), told: new Set() }
  }

  /** Takes a page in. With the last one, deletions are told first. Nothing is told of a version that is known. */
  page(items: readonly T[], isLast: boolean): Change<T>[] {
    const { unseen, unseenTallied, told } = this.#listing ?? noListing()
    for (const item of items) {
      unseen.delete(objectKey(item))
      unseenTallied.delete(objectKey(item))
    }
    const gone = isLast ? [...unseen, ...unseenTallied.keys()] : []
    const changes = gone.flatMap(key => this.#drop(key))
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
    const { unseen, unseenTallied } = this.#listing ?? noListing()
    const wasUnseen = unseen.has(key) || unseenTallied.get(key) !== undefined
    this.#tell(object)
    if (!known || known.metadata.uid === object.metadata.uid) return this.#drop(key, object)
    // Another object of that name: one from before the list is gone too, one that a page was ahead with is not.
    return wasUnseen ? this.#drop(key) : []
  }

  #tell(object: T): void {
    const key = objectKey(object)
    this.#listing?.told.add(key)
    this.#listing?.unseen.delete(key)
    this.#listing?.unseenTallied.delete(key)
  }

  #keep(object: T): Change<T>[] {
    const key = objectKey(object)
    const previous = this.#objects.get(key)
    if (previous && previous.metadata.uid !== object.metadata.uid)
      return [...this.#drop(key), ...this.#keep(object)]
    const heading = TalliedKeys.takes(key) ? this.#keeping.tally?.(object) : undefined
    const before = this.#tallied.get(key)
    if (heading === undefined) {
      this.#tallied.delete(key)
      this.#objects.set(key, this.#keeping.condense?.(object) ?? object)
    } else {
      if (before !== heading) this.#tallied.set(key, heading)
      this.#objects.delete(key)
    }
    if (previous) return [{ type: 'MODIFIED', object, previous }]
    return before !== undefined && before === heading ? [] : [{ type: 'ADDED', object }]
  }

  #drop(key: string, last = this.#objects.get(key)): Change<T>[] {
    this.#tallied.delete(key)
    return this.#objects.delete(key) && last ? [{ type: 'DELETED', object: last }] : []
  }
}
