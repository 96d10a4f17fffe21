import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bearerToken } from './bearer-token.ts'

const cases: [header: string | undefined, token: string | undefined][] = [
  [undefined, undefined],
  ['', undefined],
  ['Bearer', undefined],
  ['Bearer ', undefined],
  ['Bearer  token', undefined],
  ['Bearer token', 'token'],
  ['  Bearer token  ', 'token'],
  ['bEARER token', 'token'],
  ['Bearer token more', 'token'],
  ['Basic dXNlcjpwYXNz', undefined],
  ['Digest token', undefined],
  ['Bearer\ttoken', undefined],
  ['Bearertoken x', undefined],
]

for (const [header, token] of cases) {
  test(`Authorization ${JSON.stringify(header)} carries ${token === undefined ? 'no token' : 'a token'}`, () => {
    assert.equal(bearerToken(header), token)
  })
}
