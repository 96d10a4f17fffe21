/** The types that are served, read from the generated table: for OpenAPI documents and for checking what clients send. */
import type { ResourceRef } from '../../../kube/types.ts'
import { tables } from './types/index.ts'

export interface SchemaField {
  /** `string`, `int`, `int64`, `bool`, `bytes`, a type of the table, or one of well-known.ts. */
  type: string
  shape: 'single' | 'list' | 'map'
  required: boolean
  description: string
  /** The list's key in a strategic merge patch; '' for a list of plain values that merges as a set. */
  mergeKey?: string
}

export interface Schema {
  /** Short name, e.g. `NodeSpec`; unique among all types. */
  name: string
  /** The name in its package, where that is another one. */
  ownName?: string
  /** Kubernetes' package, e.g. `core`, or with its version where that is not v1: `certificates.v1beta1`. */
  module: string
  description: string
  fields: ReadonlyMap<string, SchemaField>
}

const fieldSyntax = /^([\w$-]+)(\*?) (\[\]|\{\})?(\w+)(~(\w*))? ?(.*)$/
const shapes: Readonly<Record<string, SchemaField['shape']>> = { '[]': 'list', '{}': 'map' }

const unescaped = (text: string) =>
  text.replace(/\\(n|\\)/g, (_match, letter) => (letter === 'n' ? '\n' : '\\'))

function parseField(line: string): [string, SchemaField] {
  const [, name, required, shape = '', type, merged, mergeKey, description = ''] =
    fieldSyntax.exec(line) ?? []
  if (!name || !type) throw new Error(`openapi/types: cannot read the line ${line}`)
  return [
    name,
    {
      type,
      shape: shapes[shape] ?? 'single',
      required: required === '*',
      description: unescaped(description),
      ...(merged !== undefined && { mergeKey: mergeKey ?? '' }),
    },
  ]
}

function parseTypes(): ReadonlyMap<string, Schema> {
  const schemas = new Map<string, Schema>()
  for (const section of tables.flatMap(table => table.trim().split(/^# /m).slice(1))) {
    const [head = '', ...lines] = section.trimEnd().split('\n')
    const [, module = '', name = '', ownName, description = ''] =
      /^([\w.]+) (\w+)(?:=(\w+))? ?(.*)$/.exec(head) ?? []
    schemas.set(name, {
      name,
      ...(ownName !== undefined && { ownName }),
      module,
      description: unescaped(description),
      fields: new Map(lines.map(parseField)),
    })
  }
  return schemas
}

let parsed: ReadonlyMap<string, Schema> | undefined

/** The table, read when it is first needed. */
export function allSchemas(): ReadonlyMap<string, Schema> {
  parsed ??= parseTypes()
  return parsed
}

export function schemaNamed(name: string): Schema | undefined {
  return allSchemas().get(name)
}

/** The schema of a resource's kind. Throws for a resource that the table lacks: regenerate it. */
export function schemaOf(resource: Pick<ResourceRef, 'kind'>): Schema {
  const schema = schemaNamed(resource.kind)
  if (!schema) throw new Error(`openapi/types lacks ${resource.kind}: see scripts/generate-openapi.ts`)
  return schema
}
