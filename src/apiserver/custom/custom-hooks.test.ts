import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { rollcallKinds } from '../../kube/rollcall/index.ts'
import type { RollcallKind, StructuralSchema } from '../../kube/rollcall/kind.ts'
import type { KubeObject } from '../../kube/types.ts'
import { servedSchemas } from '../schema-checks.ts'
import { customResource } from './custom-resource.ts'
import { timetable } from './testing/timetable.ts'

const context = { user: { username: 'u', groups: [] }, now: 0, subresource: '' }
const texts = ['', 'a', 'b', '1h', '2026-01-01T00:00:00Z', '10.0.0.0/8', 'constructor']

/** Mostly what the schema says, now and then something else; nothing is required. */
function anyOf(schema: StructuralSchema): fc.Arbitrary<unknown> {
  const strange = { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 1 }) }
  return fc.oneof(strange, { weight: 9, arbitrary: madeOf(schema) })
}

function madeOf({ type, properties = {}, additionalProperties, items, ...more }: StructuralSchema) {
  switch (type) {
    case 'string':
      return fc.constantFrom(...(more.enum ?? texts))
    case 'integer':
      return fc.integer({ min: -1, max: 20 })
    case 'number':
      return fc.double({ min: -1, max: 2 })
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(items ? anyOf(items) : fc.jsonValue(), { maxLength: 2 })
    case 'object': {
      if (additionalProperties) return fc.dictionary(fc.constantFrom('a', 'b'), anyOf(additionalProperties))
      const fields = Object.entries(properties).map(([name, field]) => [name, anyOf(field)])
      return fc.record(Object.fromEntries(fields), { requiredKeys: [] })
    }
  }
}

function objectOf({ ref, spec, status }: RollcallKind): fc.Arbitrary<KubeObject> {
  const parts = { spec: anyOf(spec), ...(status && { status: anyOf(status) }) }
  return fc.record(parts, { requiredKeys: [] }).map(body => ({
    ...body,
    apiVersion: `${ref.group}/${ref.version}`,
    kind: ref.kind,
    metadata: { name: 'a' },
  }))
}

for (const kind of [...rollcallKinds, timetable]) {
  test(`no body makes the hooks of ${kind.ref.plural} fail`, () => {
    const resource = customResource(kind)
    fc.assert(
      fc.property(objectOf(kind), objectOf(kind), (first, second) => {
        servedSchemas.dropUnknownFields(resource, first)
        assert.deepEqual(servedSchemas.unknownFields(resource, first), [])
        resource.prepareForCreate(first, context)
        resource.validate(first)
        for (const { prepareForUpdate, validateUpdate } of [
          resource,
          ...Object.values(resource.subresources),
        ]) {
          const next = structuredClone(second)
          prepareForUpdate(next, first, context)
          validateUpdate(next, first)
        }
        for (const column of resource.columns) assert.notEqual(column.value(second, 0), undefined)
      }),
      { numRuns: 60 },
    )
  })
}
