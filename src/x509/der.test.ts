import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { DerReader, tags } from './der.ts'
import { encode, encodeBitString, encodeOid, encodeSmallInteger, encodeUnsigned } from './der-write.ts'

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'))
const reader = (text: string) => new DerReader(hex(text), 'test')

function refuses(read: () => unknown, why: RegExp): void {
  assert.throws(read, error => hasCode(error, 'X509_MALFORMED') && why.test(error.message))
}

test('lengths must be definite, minimal and inside what encloses them', () => {
  refuses(() => reader('30 80 00 00').element(), /at byte 0: indefinite length/)
  refuses(() => reader('04 81 01 00').element(), /at byte 0: length is not minimally encoded/)
  refuses(() => reader(`04 82 00 80 ${'00'.repeat(128)}`).element(), /not minimally encoded/)
  refuses(() => reader('04 85 01 00 00 00 00').element(), /length is too large/)
  refuses(() => reader('04 02 00').element(), /truncated: the length goes beyond/)
  refuses(() => reader('04 81').element(), /truncated/)
  refuses(() => reader('04').element(), /truncated/)
  refuses(() => reader('').element(), /truncated/)
  const outer = reader('30 03 04 02 00 00 00').enter(tags.sequence)
  refuses(() => outer.element(), /at byte 2: truncated: the length goes beyond the enclosing structure/)
})

test('high tag numbers are refused', () => {
  refuses(() => reader('1f 20 00').element(), /high tag numbers/)
})

test('an unexpected tag is named together with the expected one', () => {
  refuses(() => reader('04 00').expect(tags.sequence), /expected tag 0x30, found 0x04/)
  refuses(
    () => reader('').expect(tags.sequence, 'subject'),
    /malformed subject at byte 0: expected tag 0x30, found the end/,
  )
})

test('a boolean is one octet, 00 or ff', () => {
  assert.equal(reader('01 01 ff').boolean(), true)
  assert.equal(reader('01 01 00').boolean(), false)
  for (const wrong of ['01 01 01', '01 01 80', '01 00', '01 02 ff ff']) {
    refuses(() => reader(wrong).boolean(), /invalid boolean/)
  }
})

test('an integer is minimal and not empty', () => {
  refuses(() => reader('02 00').integer(), /empty integer/)
  refuses(() => reader('02 02 00 7f').integer(), /not minimally encoded/)
  refuses(() => reader('02 02 ff 80').integer(), /not minimally encoded/)
  assert.deepEqual(reader('02 02 00 80').integer(), hex('0080'))
  assert.equal(reader('02 01 ff').smallInteger(), -1)
  assert.equal(reader('02 02 ff 7f').smallInteger(), -129)
  assert.equal(reader('02 06 7f ff ff ff ff ff').smallInteger(), 2 ** 47 - 1)
  refuses(() => reader('02 07 01 00 00 00 00 00 00').smallInteger(), /too large/)
})

test('unused bits of a bit string are at most seven and zero', () => {
  assert.deepEqual(reader('03 02 05 a0').bitString(), { bytes: hex('a0'), unusedBits: 5 })
  refuses(() => reader('03 00').bitString(), /empty bit string/)
  refuses(() => reader('03 01 01').bitString(), /invalid padding/)
  refuses(() => reader('03 02 08 00').bitString(), /invalid padding/)
  refuses(() => reader('03 02 05 b0').bitString(), /padding bits of a bit string are not zero/)
})

test('an object identifier has minimal arcs that fit in 31 bits', () => {
  assert.equal(reader('06 03 55 04 03').oid(), '2.5.4.3')
  assert.equal(reader('06 05 ff ff ff ff 7f'.replace('ff', '87')).oid(), `2.${0x7fffffff - 80}`)
  for (const wrong of ['06 00', '06 02 55 80', '06 03 55 80 01', '06 02 55 84', '06 06 55 88 80 80 80 00']) {
    refuses(() => reader(wrong).oid(), /invalid OBJECT IDENTIFIER/)
  }
})

test('what is left over is an error where nothing may be', () => {
  const two = reader('05 00 05 00')
  two.element()
  refuses(() => two.finish(), /at byte 2: 2 trailing bytes/)
})

test('every element that is written is read back', () => {
  const content = fc.uint8Array({ maxLength: 70_000, size: 'max' })
  fc.assert(
    fc.property(content, fc.integer({ min: 1, max: 0x1e }), (bytes, tag) => {
      const read = new DerReader(encode(tag, bytes), 'test')
      assert.deepEqual(read.content(tag), bytes)
      read.finish()
    }),
    { numRuns: 50 },
  )
})

test('integers, identifiers and bit strings survive a round trip', () => {
  const arcs = fc.array(fc.integer({ min: 0, max: 0x7fffffff }), { maxLength: 8 })
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 0x7fffffff }),
      fc.uint8Array({ minLength: 1 }),
      arcs,
      (small, bytes, rest) => {
        assert.equal(new DerReader(encodeSmallInteger(small), 'test').smallInteger(), small)
        const unsigned = new DerReader(encodeUnsigned(bytes), 'test').integer()
        assert.equal(
          BigInt(`0x${Buffer.from(unsigned).toString('hex')}`),
          BigInt(`0x${Buffer.from(bytes).toString('hex')}`),
        )
        assert.ok((unsigned[0] ?? 0) < 0x80)
        const oid = ['1.3', ...rest].join('.')
        assert.equal(new DerReader(encodeOid(oid), 'test').oid(), oid)
        assert.deepEqual(new DerReader(encodeBitString(bytes), 'test').bitString(), { bytes, unusedBits: 0 })
      },
    ),
  )
})

test('what is no object identifier cannot be written', () => {
  for (const wrong of ['', '1', '3.1', '1.40', '1.x', '1.-1', '1.3.2147483648'])
    assert.throws(() => encodeOid(wrong), RangeError)
})
