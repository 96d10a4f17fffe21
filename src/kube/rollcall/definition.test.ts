import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaProblems } from '../schema-problems.ts'
import { rollcallKinds } from './index.ts'
import type { RollcallKind, StructuralSchema } from './kind.ts'

/** Short names of Kubernetes' own resources that a cluster with the usual groups has. */
const taken =
  'cm cs ep ev limits ns no pvc pv po rc quota sa svc crd crds cr ds deploy rs sts hpa cj csr ing netpol pdb pc sc'.split(
    ' ',
  )

/** What Kubernetes demands of the schema of a CustomResourceDefinition, beyond what the type says. */
function complaintsOf(schema: StructuralSchema, path: string): string[] {
  const { type, properties, additionalProperties, items, required = [] } = schema
  const complaints: string[] = []
  const demand = (holds: boolean, text: string) => holds || complaints.push(`${path}: ${text}`)
  demand(!(properties && additionalProperties), 'properties and additionalProperties exclude each other')
  demand((type === 'array') === (items !== undefined), 'items belong to arrays, and every array has them')
  demand(
    type === 'object' || !(properties || additionalProperties || required.length),
    'fields without an object',
  )
  for (const name of required) demand(properties?.[name] !== undefined, `required ${name} is no property`)
  if (schema.default !== undefined)
    demand(
      schemaProblems({ ...schema, default: undefined }, schema.default).length === 0,
      'the default is not valid',
    )
  complaints.push(...listComplaints(schema).map(text => `${path}: ${text}`))
  return [
    ...complaints,
    ...Object.entries(properties ?? {}).flatMap(([name, one]) => complaintsOf(one, `${path}.${name}`)),
    ...(additionalProperties ? complaintsOf(additionalProperties, `${path}[*]`) : []),
    ...(items ? complaintsOf(items, `${path}[]`) : []),
  ]
}

const isScalar = ({ type }: StructuralSchema) => type !== 'object' && type !== 'array'

function listComplaints(schema: StructuralSchema): string[] {
  const { items } = schema
  const { 'x-kubernetes-list-type': listType, 'x-kubernetes-list-map-keys': keys } = schema
  if (!items) return listType || keys ? ['a list type without a list'] : []
  if (listType === 'set' && !isScalar(items)) return ['items of a set must be scalars']
  if ((listType === 'map') !== (keys !== undefined)) return ['keys belong to maps, and every map has them']
  return (keys ?? []).flatMap(key => {
    const field = items.properties?.[key]
    if (!field || !isScalar(field)) return [`the key ${key} is no scalar field of the items`]
    const given = items.required?.includes(key) || field.default !== undefined
    return given ? [] : [`the key ${key} must be required or have a default`]
  })
}

function namesOf({ ref, singular, shortNames, columns }: RollcallKind): string[] {
  const names = [ref.plural, singular, ...shortNames]
  return [
    ...names.filter(name => !/^[a-z]([a-z0-9-]*[a-z0-9])?$/.test(name)),
    ...shortNames.filter(name => taken.includes(name)),
    ...columns.filter(({ jsonPath }) => !jsonPath.startsWith('.')).map(({ name }) => name),
  ]
}

test('every schema is structural, as Kubernetes demands of a CustomResourceDefinition', () => {
  const complaints = rollcallKinds.flatMap(({ ref, spec, status }) => [
    ...complaintsOf(spec, `${ref.kind}.spec`),
    ...(status ? complaintsOf(status, `${ref.kind}.status`) : []),
  ])
  assert.deepEqual(complaints, [])
})

test('the check of schemas finds what Kubernetes would refuse', () => {
  const wrong: StructuralSchema = {
    type: 'object',
    required: ['absent'],
    properties: {
      list: { type: 'array' },
      set: { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
      map: {
        type: 'array',
        items: { type: 'object', properties: { name: { type: 'string' } } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
      word: { type: 'string', enum: ['a'], default: 'b' },
    },
  }
  assert.deepEqual(complaintsOf(wrong, 'spec'), [
    'spec: required absent is no property',
    'spec.list: items belong to arrays, and every array has them',
    'spec.set: items of a set must be scalars',
    'spec.map: the key name must be required or have a default',
    'spec.word: the default is not valid',
  ])
})

test('names, short names and columns can be had beside those of Kubernetes, and each once', () => {
  assert.deepEqual(
    rollcallKinds.flatMap(kind => namesOf(kind).map(name => `${kind.ref.kind}: ${name}`)),
    [],
  )
  const all = rollcallKinds.flatMap(({ ref, singular, shortNames }) => [ref.plural, singular, ...shortNames])
  assert.deepEqual(new Set(all).size, all.length)
})
