/** Fields that a structural schema does not know: CRDs prune them. */
import { isRecord } from '../../kube/json.ts'
import type { StructuralSchema } from '../../kube/rollcall/kind.ts'

type Visit = (parent: Record<string, unknown>, key: string, path: string) => void

/** The schema of one field of an object; undefined where the object has no such field. */
export function fieldSchema(
  { properties, additionalProperties }: StructuralSchema,
  key: string,
): StructuralSchema | undefined {
  return properties && Object.hasOwn(properties, key) ? properties[key] : additionalProperties
}

function visitUnknown(schema: StructuralSchema, value: unknown, path: string, visit: Visit): void {
  if (Array.isArray(value)) {
    const { items } = schema
    if (items) value.forEach((item, index) => void visitUnknown(items, item, `${path}[${index}]`, visit))
    return
  }
  if (!isRecord(value) || schema.type !== 'object') return
  for (const key of Object.keys(value)) {
    const own = fieldSchema(schema, key)
    const at = path === '' ? key : `${path}.${key}`
    if (own) visitUnknown(own, value[key], at, visit)
    else if (!schema['x-kubernetes-preserve-unknown-fields']) visit(value, key, at)
  }
}

/** Paths, e.g. `spec.pools[0].colour`. Below metadata nothing is looked at. */
export function structuralUnknownFields(schema: StructuralSchema, object: object): string[] {
  const found: string[] = []
  visitUnknown(...withoutMetadata(schema, object), '', (_parent, _key, path) => found.push(path))
  return found
}

/** Removes them. Changes the object. */
export function pruneUnknownFields(schema: StructuralSchema, object: object): void {
  visitUnknown(...withoutMetadata(schema, object), '', (parent, key) => delete parent[key])
}

/** Metadata has its own type, which is no part of the schema. */
function withoutMetadata(schema: StructuralSchema, object: object): [StructuralSchema, unknown] {
  const metadata: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  return [{ ...schema, properties: { ...schema.properties, metadata } }, object]
}
