import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { encodeKeyUsage, keyUsageBits, parseKeyUsage } from './extension-values.ts'
import { usagesOfWords, usageWords, wordsOfUsages } from './usages.ts'

test('there are the 23 usage words of the API', () => {
  assert.equal(new Set(usageWords).size, 23)
})

test("a kubelet's words become bits and extended usages", () => {
  assert.deepEqual(usagesOfWords(['digital signature', 'client auth', 'key encipherment']), {
    keyUsage: ['digitalSignature', 'keyEncipherment'],
    extendedKeyUsage: ['1.3.6.1.5.5.7.3.2'],
    unrecognized: [],
  })
})

test("extended usages come in the order of Go's enum, each once", () => {
  const { extendedKeyUsage } = usagesOfWords([
    'client auth',
    's/mime',
    'server auth',
    'any',
    'email protection',
  ])
  assert.deepEqual(extendedKeyUsage, [
    '2.5.29.37.0',
    '1.3.6.1.5.5.7.3.1',
    '1.3.6.1.5.5.7.3.2',
    '1.3.6.1.5.5.7.3.4',
  ])
})

test('words nobody knows are told, also those that are names of object members', () => {
  assert.deepEqual(usagesOfWords(['signing', 'toString', 'Client Auth']).unrecognized, [
    'toString',
    'Client Auth',
  ])
})

test('the words of a certificate give the same usages again', () => {
  fc.assert(
    fc.property(fc.subarray([...usageWords]), words => {
      const usages = usagesOfWords(words)
      assert.deepEqual(usagesOfWords(wordsOfUsages(usages)), usages)
    }),
  )
})

test('key usage bits survive a round trip without trailing zero bits', () => {
  fc.assert(
    fc.property(fc.subarray([...keyUsageBits]), bits =>
      assert.deepEqual(parseKeyUsage(encodeKeyUsage(bits)), bits),
    ),
  )
  assert.deepEqual(encodeKeyUsage(['digitalSignature', 'keyEncipherment']), Uint8Array.of(3, 2, 5, 0xa0))
  assert.deepEqual(encodeKeyUsage(['decipherOnly']), Uint8Array.of(3, 3, 7, 0, 0x80))
  assert.deepEqual(encodeKeyUsage([]), Uint8Array.of(3, 1, 0))
})
