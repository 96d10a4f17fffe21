/** JSON values: their types, and how they are told apart and compared. */

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject
export interface JsonObject {
  readonly [key: string]: JsonValue
}

/** Whether it has fields by name: an object, no list, no null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The same for a value that is known to be JSON all through. */
export function isObject(value: unknown): value is JsonObject {
  return isRecord(value)
}

export function isList(value: unknown): value is readonly JsonValue[] {
  return Array.isArray(value)
}

/** Deep equality as JSON knows it: order of keys does not matter, order of items does. Objects may be of any type. */
export function sameJson(left: unknown, right: unknown): boolean {
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
