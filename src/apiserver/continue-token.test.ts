import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decodeContinue, encodeContinue } from './continue-token.ts'

describe('a continue token', () => {
  it('comes back as it was made, and needs no escaping in a URL', () => {
    const token = fc.record({ revision: fc.integer({ min: 1 }), after: fc.string({ minLength: 1 }) })
    fc.assert(
      fc.property(token, made => {
        const value = { ...made }
        const text = encodeContinue(value)
        assert.match(text, /^[A-Za-z0-9_-]+$/)
        assert.deepEqual(decodeContinue(text), value)
      }),
    )
  })

  it('is refused with 400 when it is anything else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.json().map(btoaUrl)), text => {
        assert.throws(() => decodeContinue(text), {
          message: /^invalid continue token: continue key is not valid: /,
        })
      }),
    )
  })
})

const btoaUrl = (text: string) => Buffer.from(text).toString('base64url')
