/** Garbage collection: what is owned goes with its last owner, or is orphaned, or holds its owner up. */
import { isDeepStrictEqual } from 'node:util'
import type { OwnerReference } from '../kube/types.ts'
import type { Timer } from '../ports.ts'
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

/** Objects looked at in one go: each value may have to be read from the disk, and nobody is answered meanwhile. */
const lookedAtOnce = 500

/**
 * Follows all writes, and first goes through all that is there: the last run may have ended half way. Until it is through,
 * writes wait, because who depends on whom is not known. Returns its end.
 */
export function startOwnerLifecycle(options: OwnerLifecycleOptions): () => void {
  const { store, clock, log } = options
  const index = new OwnerIndex()
  const collector: Collector = { ...options, index }
  const works: Work[] = []
  let waiting: Omit<StoreEvent, 'revision'>[] | undefined = []
  let timer: Timer | undefined
  const run = ({ key, work }: Work) => {
    work().catch((error: unknown) =>
      log.warn('an object could not be deleted with its owner', { key, error: String(error) }),
    )
  }
  const follow = (event: Omit<StoreEvent, 'revision'>) => {
    index.changed(event.key, event.previous, event.current)
    return worksOf(collector, event)
  }
  const stopWatching = store.watch('registry/', store.revision, event => {
    if (waiting) waiting.push(event)
    else follow(event).forEach(run)
  })
  const { items } = store.list('registry/')
  const lookFrom = (from: number) => {
    for (const current of items.slice(from, from + lookedAtOnce))
      works.push(...follow({ key: current.key, current }))
    if (from + lookedAtOnce < items.length) {
      timer = clock.after(0, () => lookFrom(from + lookedAtOnce))
      return
    }
    const events = waiting ?? []
    waiting = undefined
    works.splice(0).forEach(run)
    for (const event of events) follow(event).forEach(run)
  }
  lookFrom(0)
  return () => {
    timer?.cancel()
    stopWatching()
  }
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
