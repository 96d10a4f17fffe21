/** JSON merge patch, RFC 7396: null removes, objects merge, all else replaces. Pure: neither argument is changed. */
import { isObject, type JsonObject, type JsonValue } from '../json.ts'
import { own, requireSafe } from './guards.ts'

function merge(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch
  const result: Record<string, JsonValue> = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = merge(own(result, key), value)
  }
  return result
}

/** The document with the patch applied. Throws PATCH_MALFORMED for a patch that names `__proto__`. */
export function applyMergePatch(document: JsonObject, patch: JsonValue): JsonValue {
  requireSafe(patch)
  return merge(document, patch)
}
