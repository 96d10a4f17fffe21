/** What a client sent, held against the schema: fields it does not know, and values of the wrong type. */
import type { KubeObject, ResourceRef } from '../../../kube/types.ts'
import { type Schema, type SchemaField, schemaNamed, schemaOf } from './schema.ts'
import { wellKnownTypes } from './well-known.ts'

type Kind = Pick<ResourceRef, 'kind'>

interface Visitor {
  /** A field that the type does not have; `path` leads to it from the object. */
  unknown?(parent: Record<string, unknown>, key: string, path: string): void
  /** Each value of a field, and each item of a list or map; `within` names Go struct and path as encoding/json does. */
  value?(value: unknown, type: string, shape: SchemaField['shape'], within: string): void
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const join = (path: string, key: string) => (path === '' ? key : `${path}.${key}`)

function visitObject(schema: Schema, object: Record<string, unknown>, path: string, visitor: Visitor): void {
  for (const [key, value] of Object.entries(object)) {
    const field = schema.fields.get(key)
    const below = join(path, key)
    if (!field) visitor.unknown?.(object, key, below)
    else if (value !== null && value !== undefined) visitField(schema, field, value, below, visitor)
  }
}

function visitField(
  schema: Schema,
  field: SchemaField,
  value: unknown,
  path: string,
  visitor: Visitor,
): void {
  const within = `${schema.name}.${path}`
  visitor.value?.(value, field.type, field.shape, within)
  const items: [string, unknown][] =
    field.shape === 'list' && Array.isArray(value)
      ? value.map((item, index) => [`${path}[${index}]`, item])
      : field.shape === 'map' && isObject(value)
        ? Object.entries(value).map(([key, item]) => [join(path, key), item])
        : field.shape === 'single'
          ? [[path, value]]
          : []
  const nested = schemaNamed(field.type)
  for (const [itemPath, item] of items) {
    if (field.shape !== 'single') visitor.value?.(item, field.type, 'single', within)
    if (nested && isObject(item)) visitObject(nested, item, itemPath, visitor)
  }
}

/** Paths of the fields that the kind does not have, e.g. `spec.taints[0].colour`; for fieldValidation. */
export function unknownFields(resource: Kind, object: KubeObject): string[] {
  const found: string[] = []
  visitObject(schemaOf(resource), { ...object }, '', { unknown: (_parent, _key, path) => found.push(path) })
  return found
}

/** Removes the fields that the kind does not have, as decoding into Kubernetes' types does. Changes the object. */
export function dropUnknownFields(resource: Kind, object: KubeObject): void {
  visitObject(schemaOf(resource), object as unknown as Record<string, unknown>, '', {
    unknown: (parent, key) => delete parent[key],
  })
}

const goTypes: Readonly<Record<string, string>> = { int: 'int32', bytes: '[]uint8' }

function goType(type: string, shape: SchemaField['shape']): string {
  const go = goTypes[type] ?? type
  if (shape === 'list') return `[]${go}`
  return shape === 'map' ? `map[string]${go}` : go
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

function scalarComplaint(value: unknown, type: string): string | undefined {
  const known = Object.hasOwn(wellKnownTypes, type) ? wellKnownTypes[type] : undefined
  if (known) return known.complaint(value)
  return isObject(value) ? undefined : 'wrong type'
}

class WrongType extends Error {}

/**
 * Why the object cannot be one of the kind, in the words of Go's JSON decoder, or undefined. What passes has the types
 * that hooks of the resource rely on; null counts as absent.
 */
export function wrongType(resource: Kind, object: KubeObject): string | undefined {
  const check: Visitor['value'] = (value, type, shape, within) => {
    const complaint =
      shape === 'list'
        ? Array.isArray(value)
          ? undefined
          : 'wrong type'
        : shape === 'map'
          ? isObject(value)
            ? undefined
            : 'wrong type'
          : scalarComplaint(value, type)
    if (complaint === undefined) return
    throw new WrongType(
      complaint === 'wrong type'
        ? `json: cannot unmarshal ${jsonType(value)} into Go struct field ${within} of type ${goType(type, shape)}`
        : complaint,
    )
  }
  try {
    visitObject(schemaOf(resource), { ...object }, '', { value: check })
  } catch (error) {
    if (error instanceof WrongType) return error.message
    throw error
  }
}
