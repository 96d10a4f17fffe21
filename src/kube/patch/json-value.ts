/** JSON values as patches see them, and the guards that every patch shares. */
import { RollcallError } from '../../errors.ts'

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

export const malformed = (message: string) => new RollcallError('PATCH_MALFORMED', message)
export const notApplicable = (message: string) => new RollcallError('PATCH_NOT_APPLICABLE', message)

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value)
}

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

/** Deep equality as JSON knows it: order of keys does not matter, order of items does. */
export function sameJson(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === right) return true
  if (isList(left) && isList(right)) {
    return left.length === right.length && left.every((item, index) => sameJson(item, right[index]))
  }
  if (!isObject(left) || !isObject(right)) return false
  const keys = Object.keys(left)
  return (
    keys.length === Object.keys(right).length &&
    keys.every(key => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
  )
}
