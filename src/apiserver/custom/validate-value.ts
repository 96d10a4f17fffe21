/** A value held against a structural schema, in the words of the schema validator that CRDs use. */
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../kube/json.ts'
import type { StructuralSchema } from '../../kube/rollcall/kind.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { listTypeErrors, previousItem } from './list-types.ts'
import { numberErrors, stringErrors, typeError, typeNameOf } from './scalar-rules.ts'
import { fieldSchema } from './unknown-fields.ts'

/**
 * What is wrong with `value`. What equals `previous`, the stored value at the same place, is not judged again: a rule
 * that came later forbids only changes (validation ratcheting, on by default since Kubernetes 1.33).
 */
export function valueErrors(
  schema: StructuralSchema,
  value: unknown,
  path: string,
  previous?: unknown,
): FieldError[] {
  if (previous !== undefined && isDeepStrictEqual(value, previous)) return []
  const type = typeNameOf(value)
  if (type !== schema.type && !(type === 'integer' && schema.type === 'number'))
    return [typeError(path, schema.type, type)]
  const { enum: supported } = schema
  return [
    ...(supported && !supported.includes(String(value))
      ? [fieldError.notSupported(path, value, supported)]
      : []),
    ...(typeof value === 'string' ? stringErrors(schema, value, path) : []),
    ...(typeof value === 'number' ? numberErrors(schema, value, path) : []),
    ...(Array.isArray(value) ? listErrors(schema, value, path, previous) : []),
    ...(isRecord(value) ? objectErrors(schema, value, path, previous) : []),
  ]
}

function listErrors(
  schema: StructuralSchema,
  list: readonly unknown[],
  path: string,
  previous: unknown,
): FieldError[] {
  const { items, minItems, maxItems } = schema
  const size: FieldError[] = []
  if (maxItems !== undefined && list.length > maxItems)
    size.push(fieldError.tooMany(path, list.length, maxItems))
  if (minItems !== undefined && list.length < minItems)
    size.push(fieldError.invalid(path, list.length, `${path} in body should have at least ${minItems} items`))
  const ofItems = items
    ? list.flatMap((item, index) =>
        valueErrors(items, item, `${path}[${index}]`, previousItem(schema, item, previous)),
      )
    : []
  return [...size, ...ofItems, ...listTypeErrors(schema, list, path)]
}

function objectErrors(
  schema: StructuralSchema,
  object: Record<string, unknown>,
  path: string,
  previous: unknown,
): FieldError[] {
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)
  const missing = (schema.required ?? []).filter(key => object[key] === undefined)
  const before = isRecord(previous) ? previous : {}
  return [
    ...missing.map(key => fieldError.required(at(key))),
    ...Object.entries(object).flatMap(([key, value]) => {
      const own = fieldSchema(schema, key)
      return own ? valueErrors(own, value, at(key), before[key]) : []
    }),
  ]
}
