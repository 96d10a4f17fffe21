/** What becomes of the dependents of an object that goes, and of an object that waits for its dependents. */
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject, ObjectMeta, OwnerReference } from '../kube/types.ts'
import type { Clock, Log } from '../ports.ts'
import { markedForDeletion } from './deletion-mark.ts'
import type { OwnerIndex } from './owner-index.ts'
import { foregroundFinalizer, orphanFinalizer } from './propagation.ts'
import type { StoredResource } from './resources/resource.ts'
import type { Store } from './storage/store.ts'
import { apiVersionOf, encodeObject, keyOf, parseObject, prefixOf, sharedObject } from './stored-object.ts'

export interface OwnerLifecycleOptions {
  store: Store
  resources: readonly StoredResource[]
  clock: Clock
  log: Log
}

export interface Collector extends OwnerLifecycleOptions {
  index: OwnerIndex
}

const has = ({ finalizers = [] }: ObjectMeta, finalizer: string) => finalizers.includes(finalizer)

export const waitsForDependents = (metadata: ObjectMeta): boolean =>
  metadata.deletionTimestamp !== undefined && has(metadata, foregroundFinalizer)

export const orphansDependents = (metadata: ObjectMeta): boolean =>
  metadata.deletionTimestamp !== undefined && has(metadata, orphanFinalizer)

/** Where the owner of an object in `namespace` lies; undefined for kinds that are not served here. */
export function ownerKey(
  { resources }: Pick<Collector, 'resources'>,
  owner: OwnerReference,
  namespace: string | undefined,
): string | undefined {
  const resource = resources.find(
    ({ kind, ...served }) => kind === owner.kind && apiVersionOf(served) === owner.apiVersion,
  )
  return resource && keyOf(resource, resource.namespaced ? (namespace ?? '') : '', owner.name)
}

type OwnerState = 'solid' | 'waiting' | 'gone'

/** An owner of a kind that is not served here counts as there: nobody could tell otherwise. */
function stateOf(collector: Collector, owner: OwnerReference, namespace: string | undefined): OwnerState {
  const key = ownerKey(collector, owner, namespace)
  if (key === undefined) return 'solid'
  const stored = collector.store.get(key)
  if (!stored) return 'gone'
  const { metadata } = sharedObject(stored)
  if (metadata.uid !== owner.uid) return 'gone'
  return waitsForDependents(metadata) ? 'waiting' : 'solid'
}

/** Writes what `change` makes of the newest version, null to delete it; undefined leaves it. */
async function rewrite(
  { store, resources }: Collector,
  key: string,
  change: (object: KubeObject, resource: StoredResource) => KubeObject | null | undefined,
): Promise<void> {
  for (;;) {
    const stored = store.get(key)
    const resource = stored && resources.find(one => key.startsWith(prefixOf(one)))
    if (!resource) return
    const next = change(parseObject(stored), resource)
    if (next === undefined) return
    const value = next && encodeObject(resource, next)
    if ((await store.write({ key, expect: stored.modRevision, value })).ok) return
  }
}

function withOwners(object: KubeObject, owners: readonly OwnerReference[]): KubeObject {
  const { ownerReferences: _before, ...metadata } = object.metadata
  return {
    ...object,
    metadata: { ...metadata, ...(owners.length > 0 && { ownerReferences: [...owners] }) },
  }
}

/** Deletes the object when no owner keeps it; else it forgets the owners that are gone or going. */
export function collect(collector: Collector, key: string): Promise<void> {
  return rewrite(collector, key, (object, resource) => {
    const { metadata } = object
    const owners = metadata.ownerReferences ?? []
    const states = owners.map(owner => stateOf(collector, owner, metadata.namespace))
    if (owners.length === 0 || states.every(state => state === 'solid')) return undefined
    if (states.includes('solid'))
      return withOwners(
        object,
        owners.filter((_one, index) => states[index] === 'solid'),
      )
    return deletion(collector, object, resource, states.includes('waiting'))
  })
}

/** An owner that waits wants to see the dependents of its dependents gone too. */
function deletion(
  { index, clock }: Collector,
  object: KubeObject,
  resource: StoredResource,
  foreground: boolean,
): KubeObject | null | undefined {
  const { metadata } = object
  const { finalizers = [], uid = '' } = metadata
  const waits = foreground && index.dependentsOf(uid).length > 0 && !has(metadata, orphanFinalizer)
  const next =
    waits && !has(metadata, foregroundFinalizer) ? [...finalizers, foregroundFinalizer] : finalizers
  if (metadata.deletionTimestamp && isDeepStrictEqual(next, finalizers)) return undefined
  return markedForDeletion(resource, object, next, clock.now()) ?? null
}

/** Every dependent forgets the object, which then may go. */
export async function orphan(collector: Collector, key: string, uid: string): Promise<void> {
  await Promise.all(
    collector.index.dependentsOf(uid).map(dependent =>
      rewrite(collector, dependent, object => {
        const owners = object.metadata.ownerReferences ?? []
        const left = owners.filter(owner => owner.uid !== uid)
        return left.length === owners.length ? undefined : withOwners(object, left)
      }),
    ),
  )
  await withoutFinalizer(collector, key, uid, orphanFinalizer)
}

/** Lets an object go that waited for its dependents, once none is left that blocks it. */
export async function finish(collector: Collector, key: string, uid: string): Promise<void> {
  const blocking = collector.index.dependentsOf(uid).some(dependent => {
    const stored = collector.store.get(dependent)
    const owners = stored ? (sharedObject(stored).metadata.ownerReferences ?? []) : []
    return owners.some(owner => owner.uid === uid && owner.blockOwnerDeletion)
  })
  if (!blocking) await withoutFinalizer(collector, key, uid, foregroundFinalizer)
}

function withoutFinalizer(collector: Collector, key: string, uid: string, finalizer: string): Promise<void> {
  return rewrite(collector, key, (object, resource) => {
    const { metadata } = object
    if (metadata.uid !== uid || !metadata.deletionTimestamp || !has(metadata, finalizer)) return undefined
    const left = (metadata.finalizers ?? []).filter(one => one !== finalizer)
    return markedForDeletion(resource, object, left, collector.clock.now()) ?? null
  })
}
