/**
 * OpenAPI v2 in protobuf (gnostic's messages), made from the same schemas as v3. kubectl below 1.27 knows nothing else,
 * and newer ones ask for it where v3 has no PATCH to look at: reviews, which are only created.
 */
import type { StructuralSchema } from '../../../kube/rollcall/kind.ts'
import type { Resource } from '../../resources/resource.ts'
import { type ServedDocument, servedDocument } from '../document.ts'
import { componentName, type GroupVersionKind } from './components.ts'
import { customComponentName, metadataDescription, objectMetaComponent } from './custom-schema.ts'
import { kindOf, structuralOf } from './kind-component.ts'
import { rootOf } from './paths.ts'
import { booleanField, field, type Message, message } from './protobuf-writer.ts'
import { type Schema, type SchemaField, schemaNamed, schemaOf } from './schema.ts'
import { wellKnownTypes } from './well-known.ts'

/** NamedAny: an extension whose value is written as YAML, of which JSON is a part. */
const extension = (name: string, value: unknown): Message =>
  message(field(1, name), field(2, field(2, JSON.stringify(value))))

const named = (name: string, value: Message): Message => message(field(1, name), field(2, value))

// Field numbers of openapi.v2.Schema.
const schemaRef = (component: string) => field(1, `#/definitions/${component}`)
const schemaFormat = (format: string) => field(2, format)
const schemaDescription = (text: string) => (text === '' ? undefined : field(4, text))
const schemaRequired = (name: string) => field(19, name)
const schemaAdditional = (value: Message) => field(21, field(1, value))
const schemaType = (type: string) => field(22, field(1, type))
const schemaItems = (value: Message) => field(23, field(1, value))
const schemaProperties = (properties: readonly Message[]) =>
  field(25, message(properties.map(one => field(1, one))))
const schemaExtension = (name: string, value: unknown) => field(31, extension(name, value))

function plainSchema(type: string): Message[] {
  const { openapi } = wellKnownTypes[type] ?? { openapi: { type: 'string' } }
  if (type === 'ExtraValue') return [schemaType('array'), schemaItems(schemaType('string'))]
  const { type: own, format, oneOf } = openapi as { type?: string; format?: string; oneOf?: unknown }
  const jsonType = own ?? (oneOf ? 'string' : undefined)
  if (!jsonType) return []
  return [schemaType(jsonType), ...(format ? [schemaFormat(format)] : [])]
}

function valueSchema(type: string): Message[] {
  const known = Object.hasOwn(wellKnownTypes, type) ? wellKnownTypes[type] : undefined
  if (known) return known.component ? [schemaRef(known.component)] : plainSchema(type)
  const schema = schemaNamed(type)
  if (!schema) throw new Error(`openapi/types lacks the type ${type}`)
  return [schemaRef(componentName(schema))]
}

function fieldSchema({ type, shape, description, mergeKey }: SchemaField): Message {
  const value = valueSchema(type)
  if (shape === 'single') return message(value, schemaDescription(description))
  if (shape === 'map') {
    return message(schemaDescription(description), schemaAdditional(message(value)), schemaType('object'))
  }
  return message(
    schemaDescription(description),
    schemaType('array'),
    schemaItems(message(value)),
    mergeKey ? schemaExtension('x-kubernetes-patch-merge-key', mergeKey) : undefined,
    mergeKey === undefined ? undefined : schemaExtension('x-kubernetes-patch-strategy', 'merge'),
  )
}

function definition(schema: Schema, kinds: readonly GroupVersionKind[]): Message {
  const fields = [...schema.fields]
  return message(
    schemaDescription(schema.description),
    fields.filter(([, { required }]) => required).map(([name]) => schemaRequired(name)),
    schemaType('object'),
    schemaProperties(fields.map(([name, one]) => named(name, fieldSchema(one)))),
    kinds.length > 0 ? schemaExtension('x-kubernetes-group-version-kind', kinds) : undefined,
  )
}

/** A structural schema; of a value that may have any fields no type is told, as kubectl would refuse those it does not know. */
function structuralSchema(schema: StructuralSchema, more: readonly Message[] = []): Message {
  const { type, description = '', format, required = [], properties, items, additionalProperties } = schema
  if (schema['x-kubernetes-preserve-unknown-fields']) return message(schemaDescription(description), more)
  const fields = Object.entries(properties ?? {}).map(([name, one]) => named(name, structuralSchema(one)))
  return message(
    format ? schemaFormat(format) : undefined,
    schemaDescription(description),
    required.map(schemaRequired),
    additionalProperties && schemaAdditional(structuralSchema(additionalProperties)),
    schemaType(type),
    items && schemaItems(structuralSchema(items)),
    fields.length > 0 ? schemaProperties(fields) : undefined,
    more,
  )
}

function customDefinition(structural: StructuralSchema, kind: GroupVersionKind): Message {
  const { metadata: _metadata, ...properties } = structural.properties ?? {}
  const metadata = message(schemaRef(objectMetaComponent), schemaDescription(metadataDescription))
  return structuralSchema({ ...structural, properties }, [
    schemaProperties([named('metadata', metadata)]),
    schemaExtension('x-kubernetes-group-version-kind', [kind]),
  ])
}

/** Every type that the kinds lead to, by component name. */
function definitionsOf(resources: readonly Resource[]): Map<string, Message> {
  const found = new Map<string, Message>()
  const visit = (type: string, kinds: readonly GroupVersionKind[] = []) => {
    const known = Object.hasOwn(wellKnownTypes, type) ? wellKnownTypes[type] : undefined
    if (known) {
      if (known.component) found.set(known.component, message(plainSchema(type)))
      return
    }
    const schema = schemaNamed(type)
    if (!schema || (found.has(componentName(schema)) && kinds.length === 0)) return
    found.set(componentName(schema), definition(schema, kinds))
    for (const { type: below } of schema.fields.values()) visit(below)
  }
  for (const resource of resources) {
    const structural = structuralOf(resource)
    if (structural) found.set(customComponentName(resource), customDefinition(structural, kindOf(resource)))
    else visit(schemaOf(resource).name, [kindOf(resource)])
  }
  visit('ObjectMeta')
  return found
}

/** A query parameter of PATCH, which says that the server knows it. */
const queryParameter = (name: string): Message =>
  // Operation.parameters > Parameter > NonBodyParameter > QueryParameterSubSchema
  field(
    8,
    field(
      1,
      field(
        2,
        field(3, message(field(2, 'query'), field(4, name), field(5, 'string'), booleanField(1, false))),
      ),
    ),
  )

function patchPath(resource: Resource): Message {
  const namespace = resource.namespaced ? '/namespaces/{namespace}' : ''
  const operation = message(
    ['dryRun', 'fieldManager', 'fieldValidation'].map(queryParameter),
    field(9, message()),
    field(13, extension('x-kubernetes-group-version-kind', kindOf(resource))),
  )
  return field(2, named(`${rootOf(resource)}${namespace}/${resource.plural}/{name}`, field(8, operation)))
}

/** The document of `/openapi/v2`. */
export function openApiV2(resources: readonly Resource[]): ServedDocument {
  const definitions = [...definitionsOf(resources)].map(([name, value]) => field(1, named(name, value)))
  const body = message(
    field(1, '2.0'),
    field(2, message(field(1, 'Kubernetes'), field(2, 'v1.36.0'))),
    field(8, message(resources.filter(({ stored }) => stored).map(patchPath))),
    field(9, message(definitions)),
  )
  return servedDocument(body, 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf')
}
