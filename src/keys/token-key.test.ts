import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { encodePem } from '../x509/pem.ts'
import { Secret } from './secret.ts'
import { encodeTokenKey, readTokenKey, tokenKeyLabel } from './token-key.ts'

test('a reference to a key in a token is read as it was written, and other texts are none', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 100 })
  fc.assert(
    fc.property(fc.string(), bytes, bytes, (label, id, spki) => {
      const read = readTokenKey(encodeTokenKey({ label, id, spki }))
      assert.deepEqual(
        [read?.label, Buffer.from(read?.id ?? []), Buffer.from(read?.spki ?? [])],
        [label, Buffer.from(id), Buffer.from(spki)],
      )
    }),
  )
  assert.equal(readTokenKey(new Secret('-----BEGIN PRIVATE KEY-----\n')), undefined)
})

test('a reference that cannot be read is refused', () => {
  for (const body of ['', '{}', 'null', '{"label":1,"id":"","spki":""}'])
    assert.throws(
      () => readTokenKey(new Secret(encodePem(tokenKeyLabel, Buffer.from(body)))),
      error => hasCode(error, 'X509_MALFORMED'),
      body,
    )
})
