/** What a client sent, held against the schema: fields it does not know, and values of the wrong type. */
import { isRecord } from '../../../kube/json.ts'
import type { KubeObject, ResourceRef } from '../../../kube/types.ts'
import { type Schema, type SchemaField, schemaNamed, schemaOf } from './schema.ts'
import { wellKnownTypes } from './well-known.ts'

type Kind = Pick<ResourceRef, 'kind'>

/** Where in the object: names of fields and keys, numbers of items. One list, grown and shrunk on the way. */
type Path = (string | number)[]

interface Visitor {
  /** A field that the type does not have. */
  unknown?(parent: Record<string, unknown>, key: string, path: Path): void
  /** A list or map without content where the type may go without the field. */
  empty?(parent: Record<string, unknown>, key: string): void
  /** Each value of a field, and each item of a list or map. */
  value?(value: unknown, field: SchemaField, shape: SchemaField['shape'], schema: Schema, path: Path): void
}

/** E.g. `spec.taints[0].key`. */
function pathText(path: Path): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('')
}

function visitObject(schema: Schema, object: Record<string, unknown>, path: Path, visitor: Visitor): void {
  for (const key of Object.keys(object)) {
    const field = schema.fields.get(key)
    const value = object[key]
    path.push(key)
    if (!field) visitor.unknown?.(object, key, path)
    else if (visitor.empty && !field.required && isEmpty(field, value)) visitor.empty(object, key)
    else if (value !== null && value !== undefined) visitField(schema, field, value, path, visitor)
    path.pop()
  }
}

const isEmpty = ({ shape }: SchemaField, value: unknown): boolean =>
  (shape === 'list' && Array.isArray(value) && value.length === 0) ||
  (shape === 'map' && isRecord(value) && Object.keys(value).length === 0)

function visitField(schema: Schema, field: SchemaField, value: unknown, path: Path, visitor: Visitor): void {
  visitor.value?.(value, field, field.shape, schema, path)
  const nested = schemaNamed(field.type)
  if (field.shape === 'single') {
    if (nested && isRecord(value)) visitObject(nested, value, path, visitor)
    return
  }
  const visitItem = (item: unknown, part: string | number) => {
    path.push(part)
    visitor.value?.(item, field, 'single', schema, path)
    if (nested && isRecord(item)) visitObject(nested, item, path, visitor)
    path.pop()
  }
  if (field.shape === 'list' && Array.isArray(value)) value.forEach(visitItem)
  else if (field.shape === 'map' && isRecord(value)) {
    for (const key of Object.keys(value)) visitItem(value[key], key)
  }
}

/** Paths of the fields that the kind does not have, e.g. `spec.taints[0].colour`; for fieldValidation. */
export function unknownFields(resource: Kind, object: KubeObject): string[] {
  const found: string[] = []
  visitObject(schemaOf(resource), { ...object }, [], {
    unknown: (_parent, _key, path) => found.push(pathText(path)),
  })
  return found
}

/** Removes the fields that the kind does not have, as decoding into Kubernetes' types does. Changes the object. */
export function dropUnknownFields(resource: Kind, object: KubeObject): void {
  visitObject(schemaOf(resource), object as unknown as Record<string, unknown>, [], {
    unknown: (parent, key) => delete parent[key],
  })
}

/** Removes lists and maps without content, which Kubernetes' types leave out (omitempty). Changes the object. */
export function dropEmptyFields(resource: Kind, object: KubeObject): void {
  visitObject(schemaOf(resource), object as unknown as Record<string, unknown>, [], {
    empty: (parent, key) => delete parent[key],
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
  return isRecord(value) ? undefined : 'wrong type'
}

class WrongType extends Error {}

function complaintOf(value: unknown, type: string, shape: SchemaField['shape']): string | undefined {
  if (shape === 'list') return Array.isArray(value) ? undefined : 'wrong type'
  if (shape === 'map') return isRecord(value) ? undefined : 'wrong type'
  return scalarComplaint(value, type)
}

/** The struct and the path of its field as encoding/json names them, without items and keys. */
function goField(schema: Schema, path: Path, shape: SchemaField['shape'], field: SchemaField): string {
  const ofField = shape === field.shape ? path : path.slice(0, -1)
  return `${schema.name}.${pathText(ofField)}`
}

/**
 * Why the object cannot be one of the kind, in the words of Go's JSON decoder, or undefined. What passes has the types
 * that hooks of the resource rely on; null counts as absent.
 */
export function wrongType(resource: Kind, object: KubeObject): string | undefined {
  const value: Visitor['value'] = (value, field, shape, schema, path) => {
    const complaint = complaintOf(value, field.type, shape)
    if (complaint === undefined) return
    throw new WrongType(
      complaint === 'wrong type'
        ? `json: cannot unmarshal ${jsonType(value)} into Go struct field ${goField(schema, path, shape, field)} of type ${goType(field.type, shape)}`
        : complaint,
    )
  }
  try {
    visitObject(schemaOf(resource), { ...object }, [], { value })
  } catch (error) {
    if (error instanceof WrongType) return error.message
    throw error
  }
}

/** Whether nothing is to be said of the object, and nothing dropped: one look, as most objects need no other. */
export function fits(resource: Kind, object: KubeObject): boolean {
  let fitting = true
  const no = () => {
    fitting = false
  }
  visitObject(schemaOf(resource), object as unknown as Record<string, unknown>, [], {
    unknown: no,
    empty: no,
    value(value, field, shape) {
      if (complaintOf(value, field.type, shape) !== undefined) fitting = false
    },
  })
  return fitting
}
