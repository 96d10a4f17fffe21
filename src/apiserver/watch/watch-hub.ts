import type { Store, StoreEvent } from '../storage/store.ts'

/** The keys that a watch is about. */
export interface Scope {
  /** Of the whole resource, e.g. `registry/core/nodes/`. */
  resource: string
  /** Of the collection, at least as long. */
  prefix: string
  /** Only this key, where the selector demands one name. */
  key?: string
}

interface Subscriber {
  scope: Scope
  /** Revision of the last event that it has got. */
  position: number
  listener(event: StoreEvent): void
}

/** All watches of one resource behind one watch of the store. */
interface Collection {
  stop(): void
  everything: Set<Subscriber>
  byKey: Map<string, Set<Subscriber>>
}

/**
 * Hands each event to the watches that it concerns. A thousand agents each watch their own Node: those are found by
 * key, so an event costs what its audience is, not what all watches are.
 */
export class WatchHub {
  readonly #store: Store
  readonly #collections = new Map<string, Collection>()

  constructor(store: Store) {
    this.#store = store
  }

  /**
   * Calls `listener` for each event in the scope after the revision, first those already made. Throws CompactedError.
   * The function returned ends it.
   */
  subscribe(scope: Scope, after: number, listener: (event: StoreEvent) => void): () => void {
    const subscriber: Subscriber = { scope, position: after, listener }
    // What is already made comes from the store; it replays at once.
    const stopReplay = this.#store.watch(scope.key ?? scope.prefix, after, event => give(subscriber, event))
    stopReplay()
    const collection = this.#collectionOf(scope.resource)
    const audience = scope.key === undefined ? collection.everything : keyAudience(collection, scope.key)
    audience.add(subscriber)
    return () => {
      audience.delete(subscriber)
      if (scope.key !== undefined && audience.size === 0) collection.byKey.delete(scope.key)
      if (collection.everything.size > 0 || collection.byKey.size > 0) return
      collection.stop()
      this.#collections.delete(scope.resource)
    }
  }

  #collectionOf(resource: string): Collection {
    const known = this.#collections.get(resource)
    if (known) return known
    const everything = new Set<Subscriber>()
    const byKey: Collection['byKey'] = new Map()
    const stop = this.#store.watch(resource, this.#store.revision, event => {
      for (const subscriber of byKey.get(event.key) ?? []) give(subscriber, event)
      for (const subscriber of everything) give(subscriber, event)
    })
    const collection = { stop, everything, byKey }
    this.#collections.set(resource, collection)
    return collection
  }
}

function keyAudience(collection: Collection, key: string): Set<Subscriber> {
  let audience = collection.byKey.get(key)
  if (!audience) {
    audience = new Set()
    collection.byKey.set(key, audience)
  }
  return audience
}

function give(subscriber: Subscriber, event: StoreEvent): void {
  const { scope } = subscriber
  if (event.revision <= subscriber.position) return
  if (scope.key === undefined ? !event.key.startsWith(scope.prefix) : event.key !== scope.key) return
  subscriber.position = event.revision
  subscriber.listener(event)
}
