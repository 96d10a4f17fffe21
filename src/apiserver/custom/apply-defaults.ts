import { isRecord } from '../../kube/json.ts'
import type { StructuralSchema } from '../../kube/rollcall/kind.ts'

/** Fills in the defaults of fields that are absent, as CRDs do: an absent object without a default stays absent. Changes `value`. */
export function applyDefaults(schema: StructuralSchema, value: unknown): void {
  if (Array.isArray(value)) {
    const { items } = schema
    if (items) for (const item of value) applyDefaults(items, item)
    return
  }
  if (!isRecord(value)) return
  for (const [key, field] of Object.entries(schema.properties ?? {})) {
    if (value[key] === undefined && field.default !== undefined) value[key] = structuredClone(field.default)
    applyDefaults(field, value[key])
  }
  const { properties = {}, additionalProperties } = schema
  if (!additionalProperties) return
  for (const [key, item] of Object.entries(value)) {
    if (!Object.hasOwn(properties, key)) applyDefaults(additionalProperties, item)
  }
}
