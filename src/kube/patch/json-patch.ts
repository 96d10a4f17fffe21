/** JSON patch, RFC 6902 with RFC 6901 pointers. Pure: the document is copied along each changed path, never changed. */
import { isList, isObject, type JsonObject, type JsonValue, sameJson } from '../json.ts'
import { malformed, notApplicable, own, requireSafe } from './guards.ts'

interface Operation {
  op: string
  path: string
  from?: string
  value?: JsonValue
}

/** Kubernetes' limit (apiserver handlers.maxJSONPatchOperations). */
const maximumOperations = 10_000

function pointerOf(text: string): string[] {
  if (text === '') return []
  if (!text.startsWith('/')) throw malformed(`the JSON pointer ${JSON.stringify(text)} must start with '/'`)
  return text
    .slice(1)
    .split('/')
    .map(part => {
      if (/~(?![01])/.test(part)) throw malformed(`the JSON pointer ${JSON.stringify(text)} has a stray '~'`)
      const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
      if (key === '__proto__') throw malformed('a JSON pointer may not contain "__proto__"')
      return key
    })
}

function missing(operation: Operation, path: string): Error {
  return notApplicable(
    `${operation.op} operation does not apply: doc is missing path: ${path}: missing value`,
  )
}

function indexOf(list: readonly JsonValue[], part: string, operation: Operation, path: string): number {
  if (!/^(0|[1-9]\d*)$/.test(part)) throw missing(operation, path)
  const index = Number(part)
  if (index >= list.length) throw missing(operation, path)
  return index
}

function valueAt(document: JsonValue, path: string, operation: Operation): JsonValue {
  let current: JsonValue | undefined = document
  for (const part of pointerOf(path)) {
    if (isList(current)) current = current[indexOf(current, part, operation, path)]
    else current = isObject(current) ? own(current, part) : undefined
    if (current === undefined) throw missing(operation, path)
  }
  return current
}

/** What to do with the last part of a pointer, in its (already copied) parent. */
interface Change {
  inObject(parent: Record<string, JsonValue>, key: string): void
  inList(parent: JsonValue[], part: string): void
}

function changeAt(
  document: JsonValue,
  pointer: readonly string[],
  change: Change,
  notThere: () => Error,
): JsonValue {
  const [part, ...rest] = pointer
  if (part === undefined) return document
  if (isList(document)) {
    const copy = [...document]
    if (rest.length === 0) change.inList(copy, part)
    else {
      const index = /^(0|[1-9]\d*)$/.test(part) ? Number(part) : -1
      const child = copy[index]
      if (child === undefined) throw notThere()
      copy[index] = changeAt(child, rest, change, notThere)
    }
    return copy
  }
  if (!isObject(document)) throw notThere()
  const copy: Record<string, JsonValue> = { ...document }
  if (rest.length === 0) change.inObject(copy, part)
  else {
    const child = own(document, part)
    if (child === undefined) throw notThere()
    copy[part] = changeAt(child, rest, change, notThere)
  }
  return copy
}

function add(document: JsonValue, operation: Operation, path: string, value: JsonValue): JsonValue {
  const pointer = pointerOf(path)
  if (pointer.length === 0) return value
  const notThere = () => missing(operation, path)
  const change: Change = {
    inObject: (parent, key) => {
      parent[key] = value
    },
    inList: (parent, part) => {
      if (part !== '-' && !/^(0|[1-9]\d*)$/.test(part)) throw notThere()
      const index = part === '-' ? parent.length : Number(part)
      if (index > parent.length) throw notThere()
      parent.splice(index, 0, value)
    },
  }
  return changeAt(document, pointer, change, notThere)
}

function replace(document: JsonValue, operation: Operation, value: JsonValue): JsonValue {
  const pointer = pointerOf(operation.path)
  if (pointer.length === 0) return value
  const notThere = () => missing(operation, operation.path)
  const change: Change = {
    inObject: (parent, key) => {
      if (!Object.hasOwn(parent, key)) throw notThere()
      parent[key] = value
    },
    inList: (parent, part) => {
      parent[indexOf(parent, part, operation, operation.path)] = value
    },
  }
  return changeAt(document, pointer, change, notThere)
}

function remove(document: JsonValue, operation: Operation, path: string): JsonValue {
  const pointer = pointerOf(path)
  if (pointer.length === 0) throw notApplicable('remove operation does not apply: the whole object cannot go')
  const notThere = () => missing(operation, path)
  const change: Change = {
    inObject: (parent, key) => {
      if (!Object.hasOwn(parent, key)) throw notThere()
      delete parent[key]
    },
    inList: (parent, part) => {
      parent.splice(indexOf(parent, part, operation, path), 1)
    },
  }
  return changeAt(document, pointer, change, notThere)
}

function test(document: JsonValue, operation: Operation, value: JsonValue): JsonValue {
  // A path that is not there equals null, as in the library that Kubernetes uses.
  let found: JsonValue
  try {
    found = valueAt(document, operation.path, operation)
  } catch (error) {
    if (value !== null) throw error
    found = null
  }
  if (!sameJson(found, value)) throw notApplicable(`testing path ${operation.path} value failed: test failed`)
  return document
}

function operationOf(raw: unknown): Operation {
  if (!isObject(raw)) throw malformed('each JSON patch operation must be an object')
  const { op, path, from } = raw
  if (typeof op !== 'string') throw malformed('a JSON patch operation needs the string "op"')
  if (typeof path !== 'string') throw malformed(`the JSON patch operation "${op}" needs the string "path"`)
  return {
    op,
    path,
    ...(typeof from === 'string' && { from }),
    ...(Object.hasOwn(raw, 'value') && { value: raw.value as JsonValue }),
  }
}

function apply(document: JsonValue, operation: Operation): JsonValue {
  const { op, path, from, value } = operation
  const needed = (): JsonValue => {
    if (value === undefined) throw malformed(`the JSON patch operation "${op}" of ${path} needs "value"`)
    return value
  }
  const source = (): string => {
    if (from === undefined)
      throw malformed(`the JSON patch operation "${op}" of ${path} needs the string "from"`)
    return from
  }
  switch (op) {
    case 'add':
      return add(document, operation, path, needed())
    case 'remove':
      return remove(document, operation, path)
    case 'replace':
      return replace(document, operation, needed())
    case 'test':
      return test(document, operation, needed())
    case 'copy':
      return add(document, operation, path, valueAt(document, source(), operation))
    case 'move': {
      if (`${path}/`.startsWith(`${source()}/`) && path !== source()) {
        throw notApplicable(`move operation does not apply: ${source()} cannot move into itself`)
      }
      const moved = valueAt(document, source(), operation)
      return add(remove(document, operation, source()), operation, path, moved)
    }
    default:
      throw malformed(`unexpected kind of JSON patch operation: ${op}`)
  }
}

/**
 * The document with all operations applied in order. Throws PATCH_MALFORMED for what is no JSON patch, and
 * PATCH_NOT_APPLICABLE when a path is missing or a test fails; then nothing counts.
 */
export function applyJsonPatch(document: JsonObject, patch: unknown): JsonValue {
  if (!isList(patch)) throw malformed('a JSON patch must be a list of operations')
  if (patch.length > maximumOperations) {
    throw malformed(
      `The allowed maximum operations in a JSON patch is ${maximumOperations}, got ${patch.length}`,
    )
  }
  requireSafe(patch)
  let result: JsonValue = document
  for (const raw of patch) result = apply(result, operationOf(raw))
  return result
}
