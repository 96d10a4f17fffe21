import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { decodeOnePem, decodePem, encodePem } from './pem.ts'

const abc = encodePem('CERTIFICATE', Buffer.from('abc'))

test('a block has lines of 64 columns and ends with a newline', () => {
  assert.equal(
    encodePem('CERTIFICATE', new Uint8Array(50)),
    `-----BEGIN CERTIFICATE-----\n${'A'.repeat(64)}\nAAA=\n-----END CERTIFICATE-----\n`,
  )
})

test('any bytes survive a round trip, several blocks and text between them too', () => {
  const blocks = fc.array(
    fc.record({
      label: fc.constantFrom('CERTIFICATE', 'EC PRIVATE KEY'),
      bytes: fc.uint8Array({ maxLength: 300 }),
    }),
  )
  fc.assert(
    fc.property(
      blocks,
      fc.constantFrom('', '\n', 'subject=/CN=a\n', '# a: b\r\n'),
      fc.boolean(),
      (all, between, windows) => {
        const text = all.map(({ label, bytes }) => between + encodePem(label, bytes)).join('')
        const read = decodePem(windows ? text.replaceAll('\n', '\r\n') : text)
        assert.deepEqual(
          read,
          all.map(block => ({ ...block, headers: false })),
        )
      },
    ),
  )
})

test('headers are noticed', () => {
  const text = abc.replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\n')
  assert.deepEqual(decodePem(text), [
    { label: 'CERTIFICATE', headers: true, bytes: new Uint8Array(Buffer.from('abc')) },
  ])
})

const notBlocks = {
  'no END line': abc.replace(/-----END.*\n/, ''),
  'another END label': abc.replace('END CERTIFICATE', 'END OTHER'),
  'END not at the start of a line': abc.replace('\n-----END', '-----END'),
  'BEGIN not at the start of a line': `x${abc}`,
  'text after BEGIN': abc.replace('-----\n', '----- x\n'),
  'text after END': abc.replace(/-----\n$/, '----- x\n'),
  'no base64': abc.replace('YWJj', '?WJj'),
  'base64 cut short': abc.replace('YWJj', 'YWJ'),
  'padding in the middle': abc.replace('YWJj', 'YQ==YQ=='),
}

for (const [name, text] of Object.entries(notBlocks)) {
  test(`it is no block: ${name}; the next block is found`, () => {
    assert.deepEqual(decodePem(text), [])
    assert.equal(decodePem(`${text}\n${abc}`).length, 1)
  })
}

test('the one expected block is demanded by its label', () => {
  assert.deepEqual(decodeOnePem(abc, 'CERTIFICATE'), new Uint8Array(Buffer.from('abc')))
  const refusal = (text: string) => (error: unknown) =>
    hasCode(error, 'X509_MALFORMED') && error.message.includes(text)
  assert.throws(() => decodeOnePem('', 'CERTIFICATE'), refusal('no PEM block found'))
  assert.throws(
    () => decodeOnePem(abc, 'CERTIFICATE REQUEST'),
    refusal('the block is CERTIFICATE, expected CERTIFICATE REQUEST'),
  )
})
