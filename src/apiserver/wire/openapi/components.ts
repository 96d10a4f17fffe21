/** Schemas as OpenAPI 3 components, with the extensions that kubectl's apply and explain read. */
import { allSchemas, type Schema, type SchemaField, schemaNamed, schemaOf } from './schema.ts'
import { wellKnownTypes } from './well-known.ts'

export interface GroupVersionKind {
  group: string
  version: string
  kind: string
}

type Json = Record<string, unknown>

const packages: Readonly<Record<string, string>> = {
  meta: 'io.k8s.apimachinery.pkg.apis.meta.v1',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1',
}

/** E.g. `io.k8s.api.core.v1.Node`. */
export function componentName({ module, name, ownName = name }: Schema): string {
  const versioned = module.includes('.') ? module : `${module}.v1`
  return `${packages[module] ?? `io.k8s.api.${versioned}`}.${ownName}`
}

export const reference = (component: string) => ({ $ref: `#/components/schemas/${component}` })

function componentOf(type: string): string | undefined {
  if (Object.hasOwn(wellKnownTypes, type)) return wellKnownTypes[type]?.component
  const schema = schemaNamed(type)
  return schema && componentName(schema)
}

/** A reference is wrapped: siblings of $ref would be ignored. */
function valueSchema(type: string): Json {
  const component = componentOf(type)
  return component ? { allOf: [reference(component)] } : { ...wellKnownTypes[type]?.openapi }
}

function mergeExtensions({ mergeKey }: SchemaField): Json {
  if (mergeKey === undefined) return {}
  return {
    ...(mergeKey !== '' && { 'x-kubernetes-patch-merge-key': mergeKey }),
    'x-kubernetes-patch-strategy': 'merge',
  }
}

function fieldSchema(field: SchemaField): Json {
  const description = field.description === '' ? {} : { description: field.description }
  const value = valueSchema(field.type)
  switch (field.shape) {
    case 'list':
      return { ...description, type: 'array', items: value, ...mergeExtensions(field) }
    case 'map':
      return { ...description, type: 'object', additionalProperties: value }
    case 'single':
      return { ...value, ...description }
  }
}

/** One type; `kinds` where it is the body of an object and not a part of one. */
export function componentSchema(schema: Schema, kinds: readonly GroupVersionKind[]): Json {
  const required = [...schema.fields].filter(([, field]) => field.required).map(([name]) => name)
  return {
    ...(schema.description && { description: schema.description }),
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries([...schema.fields].map(([name, field]) => [name, fieldSchema(field)])),
    ...(kinds.length > 0 && { 'x-kubernetes-group-version-kind': kinds }),
  }
}

/** `NodeList`, made from the component of Node. */
export function listSchema(component: string, { group, version, kind }: GroupVersionKind): Json {
  const { fields } = schemaOf({ kind: 'Status' })
  const { description: apiVersion } = fields.get('apiVersion') ?? {}
  const { description: kindDescription } = fields.get('kind') ?? {}
  return {
    description: `${kind}List is a list of ${kind} objects.`,
    type: 'object',
    required: ['items'],
    properties: {
      apiVersion: { type: 'string', description: apiVersion },
      kind: { type: 'string', description: kindDescription },
      metadata: valueSchema('ListMeta'),
      items: { type: 'array', items: { allOf: [reference(component)] } },
    },
    'x-kubernetes-group-version-kind': [{ group, version, kind: `${kind}List` }],
  }
}

/** The type and everything that it refers to, by component name. */
export function collectComponents(type: string, into: Map<string, Json>): void {
  const known = Object.hasOwn(wellKnownTypes, type) ? wellKnownTypes[type] : undefined
  if (known) {
    if (known.component) into.set(known.component, { ...known.openapi })
    return
  }
  const schema = allSchemas().get(type)
  if (!schema) throw new Error(`openapi/types lacks the type ${type}: see scripts/generate-openapi.ts`)
  const name = componentName(schema)
  if (into.has(name)) return
  into.set(name, componentSchema(schema, []))
  for (const field of schema.fields.values()) collectComponents(field.type, into)
}
