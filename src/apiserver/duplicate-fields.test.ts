import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { duplicateFields } from './duplicate-fields.ts'

describe('fields named twice', () => {
  it('are found at any depth, each once', () => {
    const text = '{"a":1,"b":{"c":[{"d":1,"d":2},{"d":3}],"c":null},"a":2,"a":3}'
    assert.deepEqual(duplicateFields(text), ['b.c[0].d', 'b.c', 'a'])
  })

  it('are compared as what they mean, not as they are escaped', () => {
    assert.deepEqual(duplicateFields('{"a":"}\\"{", "\\u0061" : [ ] }'), ['a'])
  })

  it('are none in what JSON.stringify writes', () => {
    const property = fc.property(fc.json(), fc.integer({ min: 0, max: 3 }), (json, indent) => {
      assert.deepEqual(duplicateFields(JSON.stringify(JSON.parse(json), null, indent)), [])
    })
    fc.assert(property)
  })
})
