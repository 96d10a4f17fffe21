/** Where the plan of a rotation is kept: its CARotation object. */
import { isDeepStrictEqual } from 'node:util'
import type { CARotationObject } from '../kube/rollcall/ca-rotation.ts'
import { planOf, statusOf } from './rotation-object.ts'
import type { PlanStore } from './turn.ts'

export interface RotationObjects {
  /** As stored now, from no cache. */
  get(name: string): Promise<CARotationObject>
  /** Its status, if `metadata.resourceVersion` is still that; false: it was not. */
  putStatus(rotation: CARotationObject): Promise<boolean>
}

/** `after`: the sequence at which orders of the role stand already; `now` in milliseconds since the epoch. */
export function rotationStore(
  name: string,
  { objects, after, now }: { objects: RotationObjects; after(): number; now(): number },
): PlanStore {
  let read: CARotationObject | undefined
  return {
    async read() {
      read = await objects.get(name)
      const { resourceVersion = '' } = read.metadata
      return { plan: planOf(read, now(), after()), version: resourceVersion }
    },
    async write(step, version) {
      if (read?.metadata.resourceVersion !== version) return false
      const status = statusOf(step, read.status, now())
      if (isDeepStrictEqual(plain(status), plain(read.status))) return true
      return objects.putStatus({ ...read, status })
    },
  }
}

/** As it is stored: without what JSON leaves out. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}
