import type { OwnerReference } from '../kube/types.ts'
import type { Stored } from './storage/store.ts'
import { sharedObject } from './stored-object.ts'

/** Only what holds this is parsed: most objects have no owner. */
const mark = Buffer.from('"ownerReferences":[{')

/** Parses only what has owners. */
export function ownersOf(stored: Stored | undefined): readonly OwnerReference[] {
  if (!stored) return []
  const { buffer, byteOffset, byteLength } = stored.value
  if (!Buffer.from(buffer, byteOffset, byteLength).includes(mark)) return []
  return sharedObject(stored).metadata.ownerReferences ?? []
}

/** Which keys depend on which owners, by the owners' uid. */
export class OwnerIndex {
  readonly #dependents = new Map<string, Set<string>>()

  /** Takes note of a write; absent versions as in StoreEvent. */
  changed(key: string, previous: Stored | undefined, current: Stored | undefined): void {
    for (const { uid } of ownersOf(previous)) {
      const keys = this.#dependents.get(uid)
      keys?.delete(key)
      if (keys?.size === 0) this.#dependents.delete(uid)
    }
    for (const { uid } of ownersOf(current)) {
      const keys = this.#dependents.get(uid) ?? new Set()
      this.#dependents.set(uid, keys.add(key))
    }
  }

  dependentsOf(uid: string): readonly string[] {
    return [...(this.#dependents.get(uid) ?? [])]
  }
}
