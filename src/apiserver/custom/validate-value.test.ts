import assert from 'node:assert/strict'
import { test } from 'node:test'
import { timetable } from './testing/timetable.ts'
import { valueErrors } from './validate-value.ts'

const complaintsOf = (spec: unknown, previous?: unknown) =>
  valueErrors(timetable.spec, spec, 'spec', previous).map(({ field, text }) => `${field}: ${text}`)

test('a spec that breaks every rule of its schema is told so in the words of Kubernetes', () => {
  const spec = {
    to: '',
    class: 'third',
    cars: 10,
    departs: 'soon',
    plan: '%',
    direct: 'yes',
    price: 1.5,
    stops: [{ name: 'a' }, { name: 'a', minutes: -1 }, { minutes: 0.5 }, { name: 1 }],
    days: ['mon', 'mon'],
    notes: { a: 1 },
    extra: { any: ['thing'] },
  }
  assert.deepEqual(complaintsOf(spec), [
    'spec.from: Required value',
    'spec.to: Invalid value: "": spec.to in body should be at least 1 chars long',
    'spec.class: Unsupported value: "third": supported values: "first", "second"',
    'spec.cars: Invalid value: 10: spec.cars in body should be less than or equal to 9',
    'spec.departs: Invalid value: "soon": spec.departs in body must be of type date-time: "soon"',
    'spec.plan: Invalid value: "%": spec.plan in body must be of type byte: "%"',
    'spec.direct: Invalid value: "string": spec.direct in body must be of type boolean: "string"',
    'spec.stops: Too many: 4: must have at most 3 items',
    'spec.stops[1].minutes: Invalid value: -1: spec.stops[1].minutes in body should be greater than or equal to 0',
    'spec.stops[2].name: Required value',
    'spec.stops[2].minutes: Invalid value: "number": spec.stops[2].minutes in body must be of type integer: "number"',
    'spec.stops[3].name: Invalid value: "integer": spec.stops[3].name in body must be of type string: "integer"',
    'spec.stops[1]: Duplicate value: {"name":"a"}',
    'spec.days[1]: Duplicate value: "mon"',
    'spec.notes.a: Invalid value: "integer": spec.notes.a in body must be of type string: "integer"',
  ])
  assert.deepEqual(complaintsOf({ from: 'A', stops: [], cars: 3e9 }), [
    'spec.from: Invalid value: "A": spec.from in body should match \'^[a-z]+$\'',
    'spec.stops: Invalid value: 0: spec.stops in body should have at least 1 items',
    'spec.cars: Invalid value: 3000000000: Checked value must be of type integer with format int32 in spec.cars',
    'spec.cars: Invalid value: 3000000000: spec.cars in body should be less than or equal to 9',
  ])
  assert.deepEqual(complaintsOf('x'), [
    'spec: Invalid value: "string": spec in body must be of type object: "string"',
  ])
  assert.deepEqual(complaintsOf({ from: 'abcdefghijk' }), [
    'spec.from: Too long: may not be more than 10 bytes',
  ])
})

test('what was stored wrong may stay, where a list is a map also in a moved item', () => {
  const previous = { from: 'A', class: 'third', stops: [{ name: 'a', minutes: -1 }] }
  const next = { from: 'B', class: 'third', stops: [{ name: 'b' }, { name: 'a', minutes: -1 }] }
  assert.deepEqual(complaintsOf(next, previous), [
    'spec.from: Invalid value: "B": spec.from in body should match \'^[a-z]+$\'',
  ])
})
