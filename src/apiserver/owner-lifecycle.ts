/** Garbage collection: what is owned goes with its last owner, or is orphaned, or holds its owner up. */
import { isDeepStrictEqual } from 'node:util'
import type { OwnerReference } from '../kube/types.ts'
import {
  type Collector,
  collect,
  finish,
  type OwnerLifecycleOptions,
  orphan,
  orphansDependents,
  ownerKey,
  waitsForDependents,
} from './dependents.ts'
import { OwnerIndex, ownersOf } from './owner-index.ts'
import { foregroundFinalizer, orphanFinalizer } from './propagation.ts'
import type { Stored, StoreEvent } from './storage/store.ts'
import { sharedObject } from './stored-object.ts'

/** Only what holds one of these is parsed: hardly any object does. */
const marks = [orphanFinalizer, foregroundFinalizer].map(finalizer => Buffer.from(`"${finalizer}"`))

/** Follows all writes, and first goes through all that is there: the last run may have ended half way. Returns its end. */
export function startOwnerLifecycle(options: OwnerLifecycleOptions): () => void {
  const { store, log } = options
  const index = new OwnerIndex()
  const collector: Collector = { ...options, index }
  const run = (key: string, work: Promise<void>) => {
    work.catch((error: unknown) =>
      log.warn('an object could not be deleted with its owner', { key, error: String(error) }),
    )
  }
  const { items } = store.list('registry/')
  const works: Work[] = []
  // In one go: each value may have to be read from the disk.
  for (const current of items) {
    index.changed(current.key, undefined, current)
    works.push(...worksOf(collector, { key: current.key, current }))
  }
  for (const { key, work } of works) run(key, work())
  return store.watch('registry/', store.revision, event => {
    index.changed(event.key, event.previous, event.current)
    for (const { key, work } of worksOf(collector, event)) run(key, work())
  })
}

interface Work {
  key: string
  work(): Promise<void>
}

/** What a write gives the collector to do. */
function worksOf(collector: Collector, { key, previous, current }: Omit<StoreEvent, 'revision'>): Work[] {
  const works: Work[] = []
  if (!current && previous) {
    const { uid = '' } = sharedObject(previous).metadata
    for (const dependent of collector.index.dependentsOf(uid))
      works.push({ key: dependent, work: () => collect(collector, dependent) })
  }
  const [before, after] = [ownersOf(previous), ownersOf(current)]
  // Most writes, a Lease's renewal above all, leave owners alone.
  if (!isDeepStrictEqual(before, after)) {
    for (const owner of waitingOwners(collector, previous, before))
      works.push({ key: owner.key, work: () => finish(collector, owner.key, owner.uid) })
    if (after.length > 0) works.push({ key, work: () => collect(collector, key) })
  }
  if (current && isMarked(current)) works.push({ key, work: () => processOwner(collector, key) })
  return works
}

function isMarked({ value }: Stored): boolean {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return marks.some(mark => bytes.includes(mark))
}

/** Owners that the object had and that wait for their dependents: for this one, perhaps. */
function waitingOwners(
  collector: Collector,
  dependent: Stored | undefined,
  owners: readonly OwnerReference[],
): { key: string; uid: string }[] {
  return owners.flatMap(owner => {
    const key = ownerKey(collector, owner, dependent && sharedObject(dependent).metadata.namespace)
    const stored = key && collector.store.get(key)
    return stored && waitsForDependents(sharedObject(stored).metadata) ? [{ key, uid: owner.uid }] : []
  })
}

async function processOwner(collector: Collector, key: string): Promise<void> {
  const stored = collector.store.get(key)
  if (!stored) return
  const { metadata } = sharedObject(stored)
  const { uid = '' } = metadata
  if (orphansDependents(metadata)) await orphan(collector, key, uid)
  if (!waitsForDependents(metadata)) return
  const dependents = collector.index.dependentsOf(uid)
  await Promise.all(dependents.map(dependent => collect(collector, dependent)))
  await finish(collector, key, uid)
}
