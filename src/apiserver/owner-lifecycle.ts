/** What is owned goes with its last owner (background garbage collection), e.g. a node's Lease with its Node. */
import type { OwnerReference } from '../kube/types.ts'
import type { Clock, Log } from '../ports.ts'
import { timestamp } from './object-name.ts'
import { OwnerIndex } from './owner-index.ts'
import type { StoredResource } from './resources/resource.ts'
import type { Store, Stored } from './storage/store.ts'
import { apiVersionOf, encodeObject, keyOf, parseObject, prefixOf, sharedObject } from './stored-object.ts'

export interface OwnerLifecycleOptions {
  store: Store
  resources: readonly StoredResource[]
  clock: Clock
  log: Log
}

/** Deletes dependents when their owner is deleted. The function returned ends it. */
export function startOwnerLifecycle(options: OwnerLifecycleOptions): () => void {
  const { store, log } = options
  const index = new OwnerIndex()
  for (const stored of store.list('registry/').items) index.changed(stored.key, undefined, stored)
  return store.watch('registry/', store.revision, ({ key, previous, current }) => {
    index.changed(key, previous, current)
    const uid = !current && previous ? (sharedObject(previous).metadata.uid ?? '') : ''
    for (const dependent of index.dependentsOf(uid)) {
      release(options, dependent).catch((error: unknown) =>
        log.warn('an object could not be deleted with its owner', { key: dependent, error: String(error) }),
      )
    }
  })
}

/** Deletes the object unless an owner is left; where finalizers must run it is marked. */
async function release(options: OwnerLifecycleOptions, key: string): Promise<void> {
  const { store, clock } = options
  for (;;) {
    const stored = store.get(key)
    const resource = stored && options.resources.find(resource => key.startsWith(prefixOf(resource)))
    if (!resource || isOwned(options, stored)) return
    const object = parseObject(stored)
    const { metadata } = object
    const waits = (metadata.finalizers?.length ?? 0) > 0
    if (waits && metadata.deletionTimestamp) return
    const marked = { ...object, metadata: { ...metadata, deletionTimestamp: timestamp(clock.now()) } }
    const value = waits ? encodeObject(resource, marked) : null
    if ((await store.write({ key, expect: stored.modRevision, value })).ok) return
  }
}

/** Owners of kinds that are not served here count as there: nobody could tell otherwise. */
function isOwned({ store, resources }: OwnerLifecycleOptions, stored: Stored): boolean {
  const { metadata } = sharedObject(stored)
  return (metadata.ownerReferences ?? []).some((owner: OwnerReference) => {
    const resource = resources.find(
      resource => resource.kind === owner.kind && apiVersionOf(resource) === owner.apiVersion,
    )
    if (!resource) return true
    const namespace = resource.namespaced ? (metadata.namespace ?? '') : ''
    const found = store.get(keyOf(resource, namespace, owner.name))
    return found !== undefined && sharedObject(found).metadata.uid === owner.uid
  })
}
