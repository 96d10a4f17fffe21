import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { DerReader, tags } from './der.ts'
import { encode } from './der-write.ts'
import { encodeTime, readTime } from './time.ts'

const read = (der: Uint8Array) => readTime(new DerReader(der, 'validity'), 'notAfter')
const text = (der: Uint8Array) => Buffer.from(der.subarray(2)).toString()

test('years through 2049 are UTCTime, later ones GeneralizedTime', () => {
  assert.equal(text(encodeTime(Date.UTC(2049, 11, 31, 23, 59, 59, 999))), '491231235959Z')
  assert.equal(text(encodeTime(Date.UTC(2050, 0, 1))), '20500101000000Z')
  assert.equal(text(encodeTime(Date.UTC(1950, 0, 1))), '500101000000Z')
  assert.equal(text(encodeTime(Date.UTC(1949, 11, 31))), '19491231000000Z')
})

test('every second of our calendar survives a round trip', () => {
  const seconds = fc.integer({ min: Date.UTC(1000, 0, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 })
  fc.assert(fc.property(seconds, second => assert.equal(read(encodeTime(second * 1000)), second * 1000)))
})

const refused: [number, string][] = [
  [tags.utcTime, '2611301200Z'],
  [tags.utcTime, '261130120000+0000'],
  [tags.utcTime, '261130120000'],
  [tags.utcTime, '260230120000Z'],
  [tags.utcTime, '261301120000Z'],
  [tags.utcTime, '260030120000Z'],
  [tags.utcTime, '260100120000Z'],
  [tags.utcTime, '260101240000Z'],
  [tags.utcTime, '260101236000Z'],
  [tags.utcTime, '260101235960Z'],
  [tags.utcTime, '2601012359 0Z'],
  [tags.utcTime, '20260101235959Z'],
  [tags.generalizedTime, '20260101235959.5Z'],
  [tags.generalizedTime, '260101235959Z'],
  [tags.ia5String, '260101235959Z'],
]

for (const [tag, value] of refused) {
  test(`${value} with tag ${tag} is no time`, () => {
    assert.throws(
      () => read(encode(tag, Buffer.from(value))),
      error => hasCode(error, 'X509_MALFORMED'),
    )
  })
}

test('the century of two digits turns at 50', () => {
  const year = (digits: string) =>
    new Date(read(encode(tags.utcTime, Buffer.from(`${digits}0101000000Z`)))).getUTCFullYear()
  assert.deepEqual(['49', '50', '99', '00'].map(year), [2049, 1950, 1999, 2000])
})

test('February 29 exists in leap years only', () => {
  assert.equal(read(encode(tags.utcTime, Buffer.from('240229000000Z'))), Date.UTC(2024, 1, 29))
  assert.throws(() => read(encode(tags.utcTime, Buffer.from('230229000000Z'))))
})
