import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { KubeObject } from '../../kube/types.ts'
import type { Access } from '../access/access.ts'
import { ApiError } from '../wire/api-error.ts'
import { unknownFields, wrongType } from '../wire/openapi/check.ts'
import { type SchemaField, schemaNamed, schemaOf } from '../wire/openapi/schema.ts'
import { allResources } from './index.ts'
import type { Resource } from './resource.ts'

const samples: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  string: fc.oneof(
    fc.constantFrom('', 'a', 'Ready', 'True', 'Approved', 'a/b', 'a=b'),
    fc.string({ maxLength: 5 }),
  ),
  bool: fc.boolean(),
  int: fc.integer({ min: -5, max: 1000 }),
  int64: fc.integer(),
  bytes: fc.base64String({ maxLength: 8 }),
  Time: fc.constant('2026-01-01T00:00:00Z'),
  MicroTime: fc.constant('2026-01-01T00:00:00.000000Z'),
  Quantity: fc.constantFrom('1', '100m', '1Gi'),
  IntOrString: fc.constantFrom('http', 80),
  FieldsV1: fc.constant({ 'f:spec': {} }),
  ExtraValue: fc.array(fc.string({ maxLength: 3 }), { maxLength: 2 }),
}

function valuesOf({ type, shape }: SchemaField, depth: number): fc.Arbitrary<unknown> {
  const one = Object.hasOwn(samples, type) ? samples[type] : objectOf(type, depth + 1)
  assert.ok(one)
  if (shape === 'list') return fc.array(one, { maxLength: 2 })
  return shape === 'map'
    ? fc.dictionary(fc.constantFrom('a', 'b.c', 'constructor'), one, { maxKeys: 2 })
    : one
}

/** Objects with any of the type's fields: nothing is required, as bodies of strangers are. */
function objectOf(type: string, depth = 0): fc.Arbitrary<Record<string, unknown>> {
  const fields = [...(schemaNamed(type)?.fields ?? [])].filter(
    ([, field]) => depth < 3 || Object.hasOwn(samples, field.type),
  )
  return fc.record(Object.fromEntries(fields.map(([name, field]) => [name, valuesOf(field, depth)])), {
    requiredKeys: [],
  })
}

function bodiesOf(resource: Resource): fc.Arbitrary<KubeObject> {
  const head = {
    apiVersion: resource.version,
    kind: resource.kind,
    metadata: { name: 'a', namespace: 'default' },
  }
  return objectOf(schemaOf(resource).name).map(body => ({ ...body, ...head }))
}

const access: Pick<Access, 'authorize' | 'rulesFor' | 'authenticateToken'> = {
  authorize: () => ({ allowed: false, reason: '' }),
  rulesFor: () => ({ resourceRules: [], nonResourceRules: [], incomplete: false }),
  authenticateToken: () => ({ ok: false, reason: 'invalid bearer token' }),
}
const context = {
  user: { username: 'u', groups: [] },
  now: 0,
  subresource: '',
  namespace: 'default',
  access: access as Access,
  reader: { get: () => undefined, list: () => [], generation: () => 0 },
}

function runHooks(resource: Resource, first: KubeObject, second: KubeObject): void {
  if (!resource.stored) {
    if (resource.validate(first).length === 0) resource.review(first, context)
    return
  }
  resource.prepareForCreate(first, context)
  resource.validate(first)
  for (const { prepareForUpdate, validateUpdate } of [resource, ...Object.values(resource.subresources)]) {
    const next = structuredClone(second)
    prepareForUpdate(next, first, context)
    validateUpdate(next, first)
  }
  for (const column of resource.columns) assert.notEqual(column.value(first, 0), undefined)
  for (const field of resource.selectableFields ?? []) assert.equal(typeof field.value(first), 'string')
}

// Custom resources are judged by schemas of their own: custom/custom-hooks.test.ts.
for (const resource of allResources.filter(one => !one.stored || !one.structural)) {
  test(`no body of the right types makes the hooks of ${resource.plural} fail`, () => {
    fc.assert(
      fc.property(bodiesOf(resource), bodiesOf(resource), (first, second) => {
        assert.equal(wrongType(resource, first), undefined)
        assert.deepEqual(unknownFields(resource, first), [])
        try {
          runHooks(resource, structuredClone(first), second)
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
        }
      }),
      { numRuns: 60 },
    )
  })
}
