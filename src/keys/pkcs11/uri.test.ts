import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { hasCode } from '../../errors.ts'
import { formatPkcs11Uri, parsePkcs11Uri } from './uri.ts'

test('a URI names module, token, key and PIN file, its values percent-encoded', () => {
  const uri = parsePkcs11Uri(
    'pkcs11:token=My%20token;serial=1a2b;object=ca-%C3%A4;id=%00%ff;type=private?module-path=/usr/lib/p.so&pin-source=file:///etc/pin',
  )
  assert.deepEqual(uri, {
    token: { label: 'My token', serial: '1a2b' },
    object: 'ca-ä',
    id: Uint8Array.of(0, 255),
    modulePath: '/usr/lib/p.so',
    pinSource: '/etc/pin',
  })
})

test('a PIN in the URI is refused in a sentence that says where it belongs and does not quote it', () => {
  for (const text of ['pkcs11:token=a?pin-value=13579', 'pkcs11:token=a?module-path=/m.so&13579']) {
    assert.throws(
      () => parsePkcs11Uri(text),
      error => hasCode(error, 'KEY_URI_INVALID') && !inspect(error).includes('13579'),
    )
  }
  assert.throws(() => parsePkcs11Uri('pkcs11:?pin-value=1'), /mode 0600.*pin-source=file:\/path/)
})

test('what could mean another key or another place is refused', () => {
  const cases: [string, RegExp][] = [
    ['pkcs12:token=a', /does not start/],
    ['pkcs11:token=a;token=b', /twice/],
    ['pkcs11:tokn=a', /no known attribute/],
    ['pkcs11:token=', /empty/],
    ['pkcs11:token=%zz', /%XX/],
    ['pkcs11:token=%ff', /UTF-8/],
    ['pkcs11:type=cert', /type=cert/],
    ['pkcs11:slot-id=1', /token= or serial=/],
    ['pkcs11:token=a?module-name=softhsm', /module-path/],
    ['pkcs11:token=a?pin-source=%7C/bin/pin', /only a file/],
    ['pkcs11:token=a?pin-source=pin', /absolute/],
    ['pkcs11:token=a?x=1?y=2', /two question marks/],
  ]
  for (const [text, why] of cases) assert.throws(() => parsePkcs11Uri(text), why, text)
})

test('parse(format(uri)) = uri', () => {
  const text = fc.string({ unit: 'grapheme', minLength: 1 })
  const path = text.map(name => `/${name}`)
  const uri = fc.record(
    {
      token: fc.record({ label: text, serial: text, manufacturer: text, model: text }, { requiredKeys: [] }),
      object: text,
      id: fc.uint8Array({ minLength: 1, maxLength: 40 }),
      modulePath: path,
      pinSource: path.filter(path => !path.startsWith('//')),
    },
    { requiredKeys: ['token'] },
  )
  fc.assert(
    fc.property(uri, made => {
      const read = parsePkcs11Uri(formatPkcs11Uri(made))
      assert.deepEqual(
        { ...read, id: read.id && Buffer.from(read.id), token: { ...read.token } },
        { id: undefined, ...made, ...(made.id && { id: Buffer.from(made.id) }), token: { ...made.token } },
      )
    }),
  )
})
