/** The guards that every kind of patch shares. */
import { RollcallError } from '../../errors.ts'
import type { JsonObject, JsonValue } from '../json.ts'

export const malformed = (message: string) => new RollcallError('PATCH_MALFORMED', message)
export const notApplicable = (message: string) => new RollcallError('PATCH_NOT_APPLICABLE', message)

/** The own property, never one of Object.prototype: a patch may name `constructor` or `toString`. */
export function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

/** Deepest nesting a patch may have; what Kubernetes' JSON decoder bears is far above, what objects have far below. */
const maximumDepth = 200

/**
 * Throws PATCH_MALFORMED when a patch holds `__proto__` anywhere, which assigning would turn into a new prototype, or
 * is nested deeper than `maximumDepth`.
 */
export function requireSafe(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > maximumDepth) throw malformed(`the patch is nested deeper than ${maximumDepth} levels`)
  if (Array.isArray(value)) {
    for (const item of value) requireSafe(item, depth + 1)
    return
  }
  for (const [key, item] of Object.entries(value)) {
    if (key === '__proto__') throw malformed('the patch may not contain the key "__proto__"')
    requireSafe(item, depth + 1)
  }
}
