import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SchemaChecks } from './schema-checks.ts'
import { checkFields, warningHeader } from './write-options.ts'

describe('the Warning header', () => {
  it('quotes what is said as kube-apiserver does', () => {
    assert.equal(
      warningHeader(['unknown field "spec.x\\y"', 'b']),
      '299 - "unknown field \\"spec.x\\\\y\\"", 299 - "b"',
    )
  })

  it('has UTF-8 in it as bytes, and no control characters, which HTTP refuses', () => {
    const header = warningHeader(['é😀\ud800', 'a\nb', 'c\x7fd'])
    assert.equal(Buffer.from(header, 'latin1').toString(), '299 - "é😀\ufffd"')
  })

  it('stays short, however much there is to warn of', () => {
    const header = warningHeader(
      Array.from({ length: 10_000 }, (_, i) => `unknown field "f${i}${'x'.repeat(900)}"`),
    )
    assert.ok(header.length < 5000)
    assert.match(header, /^299 - "unknown field \\"f0x+", 299 - /)
  })

  it('is absent when there is nothing to say', () => {
    assert.equal(warningHeader([]), '')
  })
})

describe('the check of fields', () => {
  it('tells the first of very many unknown fields, not all of them', () => {
    const names = Array.from({ length: 150_000 }, (_, index) => `f${index}`)
    const schemas: SchemaChecks = {
      wrongType: () => undefined,
      unknownFields: () => names,
      dropUnknownFields() {},
      dropEmptyFields() {},
    }
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } }
    const check = (validation: 'Strict' | 'Warn') =>
      checkFields(
        schemas,
        validation,
        { kind: 'ConfigMap' },
        { object, duplicates: names },
        text => new Error(text),
      )
    assert.equal(check('Warn').length, 100)
    assert.throws(
      () => check('Strict'),
      ({ message }: Error) => message.length < 5000,
    )
  })
})
