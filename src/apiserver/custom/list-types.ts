/** `x-kubernetes-list-type`: lists that are sets, or maps by some keys of their items. */
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../kube/json.ts'
import type { StructuralSchema } from '../../kube/rollcall/kind.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'

/** What makes an item itself; undefined in an atomic list. */
function identityOf(schema: StructuralSchema, item: unknown): unknown {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return item
    case 'map': {
      if (!isRecord(item)) return undefined
      const keys = schema['x-kubernetes-list-map-keys'] ?? []
      return Object.fromEntries(keys.map(key => [key, item[key]]))
    }
    default:
      return undefined
  }
}

/** Items that are there twice. */
export function listTypeErrors(
  schema: StructuralSchema,
  list: readonly unknown[],
  path: string,
): FieldError[] {
  const seen = new Set<string>()
  return list.flatMap((item, index) => {
    const identity = identityOf(schema, item)
    if (identity === undefined) return []
    const key = JSON.stringify(identity)
    const twice = seen.has(key)
    seen.add(key)
    return twice ? [fieldError.duplicate(`${path}[${index}]`, identity)] : []
  })
}

/** The stored item that `item` is a new version of; only maps have such. */
export function previousItem(schema: StructuralSchema, item: unknown, previous: unknown): unknown {
  if (schema['x-kubernetes-list-type'] !== 'map' || !Array.isArray(previous)) return undefined
  const identity = identityOf(schema, item)
  return previous.find(one => isDeepStrictEqual(identityOf(schema, one), identity))
}
