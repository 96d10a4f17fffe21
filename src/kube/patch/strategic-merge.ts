/**
 * Strategic merge patch as Kubernetes' apimachinery applies it: maps merge, lists merge by the key that the kind
 * declares (merge-keys.ts) or are replaced, and directives in the patch say what to delete, replace, keep and in which
 * order. Pure: neither argument is changed.
 */
import { isList, isObject, type JsonObject, type JsonValue, sameJson } from '../json.ts'
import { malformed, own, requireSafe } from './guards.ts'
import { type MergeKeys, mergeKeysOf } from './merge-keys.ts'

const directive = '$patch'
const retainKeys = '$retainKeys'
const deleteFromPrimitiveList = '$deleteFromPrimitiveList/'
const setElementOrder = '$setElementOrder/'

type Directive = 'replace' | 'delete' | 'merge'

function directiveOf(patch: JsonObject): Directive | undefined {
  const value = own(patch, directive)
  if (value === undefined) return undefined
  if (value === 'replace' || value === 'delete' || value === 'merge') return value
  throw malformed(`unknown patch type: ${JSON.stringify(value)} in map: ${JSON.stringify(patch)}`)
}

/** A value that has nothing to merge with: without directives and nulls, at any depth of maps. */
function cleaned(patch: JsonValue, path: string, keys: MergeKeys): JsonValue {
  if (isObject(patch)) return mergeMap({}, patch, path, keys)
  if (isList(patch)) return mergeList([], patch, path, keys)
  return patch
}

function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keep = own(patch, retainKeys)
  if (keep === undefined) return original
  if (!isList(keep) || keep.some(key => typeof key !== 'string')) {
    throw malformed(`invalid patch format of retainKeys, retainKeys: ${JSON.stringify(keep)}`)
  }
  for (const key of Object.keys(patch)) {
    if (!key.startsWith('$') && !keep.includes(key)) {
      throw malformed(
        `invalid patch format of retainKeys: ${JSON.stringify(key)} is set but is not among the keys to keep`,
      )
    }
  }
  return Object.fromEntries(Object.entries(original).filter(([key]) => keep.includes(key)))
}

function listUnder(patch: JsonObject, key: string): readonly JsonValue[] {
  const value = own(patch, key)
  if (!isList(value)) throw malformed(`invalid patch format of ${key}: a list is expected`)
  return value
}

function deleteValues(original: JsonValue | undefined, doomed: readonly JsonValue[]): JsonValue | undefined {
  if (!isList(original)) return original
  return original.filter(item => !doomed.some(other => sameJson(item, other)))
}

function mergeMap(original: JsonObject, patch: JsonObject, path: string, keys: MergeKeys): JsonObject {
  const what = directiveOf(patch)
  if (what === 'delete') return {}
  const result: Record<string, JsonValue> = what === 'replace' ? {} : { ...retained(original, patch) }
  for (const [key, value] of Object.entries(patch)) {
    if (key === directive || key === retainKeys || key.startsWith(setElementOrder)) continue
    if (key.startsWith(deleteFromPrimitiveList)) {
      const name = key.slice(deleteFromPrimitiveList.length)
      const left = deleteValues(own(result, name), listUnder(patch, key))
      if (left !== undefined) result[name] = left
      continue
    }
    if (value === null) {
      delete result[key]
      continue
    }
    const before = own(result, key)
    const below = path === '' ? key : `${path}.${key}`
    if (isObject(value) && isObject(before)) result[key] = mergeMap(before, value, below, keys)
    else if (isList(value) && isList(before)) result[key] = mergeList(before, value, below, keys)
    else result[key] = cleaned(value, below, keys)
  }
  return ordered(result, original, patch, path, keys)
}

function mergeKeyOf(item: JsonValue, key: string): JsonValue {
  const value = isObject(item) ? own(item, key) : undefined
  if (value === undefined) {
    throw malformed(`map: ${JSON.stringify(item)} does not contain declared merge key: ${key}`)
  }
  return value
}

function mergeList(
  original: readonly JsonValue[],
  patch: readonly JsonValue[],
  path: string,
  keys: MergeKeys,
): JsonValue[] {
  const plain = patch.filter(item => !isObject(item) || directiveOf(item) === undefined)
  const marks = patch.filter(isObject).filter(item => directiveOf(item) !== undefined)
  const key = Object.hasOwn(keys, path) ? keys[path] : undefined
  const replaced = marks.some(mark => directiveOf(mark) === 'replace')
  if (key === undefined || replaced) {
    // The kubelet sends its addresses so: the new list and a trailing {"$patch": "replace"} (W-3).
    return plain.map(item => (isObject(item) ? mergeMap({}, item, path, keys) : item))
  }
  if (key === '') {
    const added = plain.filter(item => !original.some(other => sameJson(item, other)))
    const unique = added.filter((item, at) => added.findIndex(one => sameJson(one, item)) === at)
    return inOrder([...original, ...unique], plain, original, item => item)
  }
  const doomed = marks.filter(mark => directiveOf(mark) === 'delete').map(mark => mergeKeyOf(mark, key))
  const left = original.filter(
    item => !isObject(item) || !doomed.some(value => sameJson(own(item, key), value)),
  )
  const result = [...left]
  const merged = marks.filter(mark => directiveOf(mark) === 'merge')
  for (const item of [...plain, ...merged]) {
    const value = mergeKeyOf(item, key)
    const at = result.findIndex(other => isObject(other) && sameJson(own(other, key), value))
    const before = result[at]
    if (isObject(item) && isObject(before)) result[at] = mergeMap(before, item, path, keys)
    else result.push(cleaned(item, path, keys))
  }
  const identity = (item: JsonValue) => (isObject(item) ? (own(item, key) ?? null) : item)
  return inOrder(result, plain.map(identity), left.map(identity), identity)
}

/** Brings the lists that the patch gives an order for into it (else it is that of the patch's own items); items it does not name keep their place relative to it. */
function ordered(
  result: Record<string, JsonValue>,
  original: JsonObject,
  patch: JsonObject,
  path: string,
  keys: MergeKeys,
): JsonObject {
  for (const directiveKey of Object.keys(patch)) {
    if (!directiveKey.startsWith(setElementOrder)) continue
    const name = directiveKey.slice(setElementOrder.length)
    const list = own(result, name)
    const order = listUnder(patch, directiveKey)
    const key = keys[path === '' ? name : `${path}.${name}`]
    if (!isList(list) || key === undefined) continue
    const identity = (item: JsonValue) => (key !== '' && isObject(item) ? (own(item, key) ?? null) : item)
    const wanted = order.map(identity)
    requireOrderNamesAll(own(patch, name), wanted, identity, directiveKey)
    const before = own(original, name)
    result[name] = inOrder(list, wanted, isList(before) ? before.map(identity) : [], identity)
  }
  return result
}

function requireOrderNamesAll(
  patched: JsonValue | undefined,
  wanted: readonly JsonValue[],
  identity: (item: JsonValue) => JsonValue,
  directiveKey: string,
): void {
  if (!isList(patched)) return
  const left = patched
    .filter(item => !isObject(item) || own(item, directive) === undefined)
    .filter(item => !wanted.some(other => sameJson(other, identity(item))))
  if (left.length > 0) {
    throw malformed(
      `The order in patch list:\n${JSON.stringify(patched)}\n doesn't match ${directiveKey} list:\n${JSON.stringify(wanted)}\n`,
    )
  }
}

/** What the patch names in its order; what it does not name goes before it only where it stood before it. */
function inOrder(
  list: readonly JsonValue[],
  wanted: readonly JsonValue[],
  before: readonly JsonValue[],
  identity: (item: JsonValue) => JsonValue,
): JsonValue[] {
  const positionIn = (order: readonly JsonValue[], item: JsonValue) =>
    order.findIndex(other => sameJson(other, identity(item)))
  const named = list
    .filter(item => positionIn(wanted, item) >= 0)
    .sort((left, right) => positionIn(wanted, left) - positionIn(wanted, right))
  const unnamed = list.filter(item => positionIn(wanted, item) < 0)
  const result: JsonValue[] = []
  // Merges the two like Kubernetes' mergeSortedSlice: an unnamed item goes first only if it stood before in the original.
  for (const item of named) {
    const place = positionIn(before, item)
    for (let next = unnamed[0]; next !== undefined && place >= 0; next = unnamed[0]) {
      const other = positionIn(before, next)
      if (other < 0 || other >= place) break
      result.push(next)
      unnamed.shift()
    }
    result.push(item)
  }
  return [...result, ...unnamed]
}

/**
 * The object with the patch applied; `kind` selects which lists merge. Throws PATCH_MALFORMED for directives that are
 * wrong, items without their merge key, and `__proto__`.
 */
export function applyStrategicMergePatch(document: JsonObject, patch: unknown, kind: string): JsonObject {
  if (!isObject(patch)) throw malformed('a strategic merge patch must be an object')
  requireSafe(patch)
  return mergeMap(document, patch, '', mergeKeysOf(kind))
}
