import type { ResourceRef } from '../types.ts'

/** Group of all kinds of our own. */
export const rollcallGroup = 'rollcall.dev'
export const rollcallVersion = 'v1alpha1'

/** The part of OpenAPI v3 that a structural schema of a CustomResourceDefinition may use. */
export interface StructuralSchema {
  type: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean'
  description?: string
  properties?: Readonly<Record<string, StructuralSchema>>
  additionalProperties?: StructuralSchema
  items?: StructuralSchema
  required?: readonly string[]
  enum?: readonly string[]
  default?: unknown
  pattern?: string
  format?: 'date-time' | 'int32' | 'int64' | 'byte'
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map'
  'x-kubernetes-list-map-keys'?: readonly string[]
  'x-kubernetes-preserve-unknown-fields'?: true
  /** CEL rules; the embedded API does not evaluate them: what they say is repeated in `complaints`. */
  'x-kubernetes-validations'?: readonly { rule: string; message: string }[]
}

/** A column of `kubectl get`. */
export interface PrinterColumn {
  name: string
  type: 'string' | 'integer' | 'boolean' | 'date'
  jsonPath: string
  description: string
  priority?: 0 | 1
}

/**
 * One kind of ours. From this alone follow the resource of the embedded API, its OpenAPI, its Table, and the
 * CustomResourceDefinition for a real cluster (deploy/crds).
 */
export interface RollcallKind {
  ref: ResourceRef
  singular: string
  shortNames: readonly string[]
  description: string
  /** Schema of `spec` and of `status`; without `status` there is no status subresource. */
  spec: StructuralSchema
  status?: StructuralSchema
  columns: readonly PrinterColumn[]
  /**
   * What a schema cannot say: complaints as `spec.pools[1].name: Duplicate value: "a"`. Asked only of objects that the
   * schema accepts; `previous` is the stored one at an update, for rules that forbid changes.
   */
  complaints?(object: unknown, previous?: unknown): string[]
}

/** A cluster-scoped kind in our group. */
export function clusterKind(plural: string, kind: string): ResourceRef {
  return { group: rollcallGroup, version: rollcallVersion, plural, kind, namespaced: false }
}
