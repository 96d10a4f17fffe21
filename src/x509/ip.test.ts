import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatIp, parseIp, sameIp } from './ip.ts'

const roundTrips = [
  '0.0.0.0',
  '10.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  'fd00::1',
  '1::',
  '2001:db8::1:0:0:1',
  '1:0:2:3:4:5:6:7',
]

for (const text of roundTrips) {
  test(`${text} is read and printed`, () => {
    const bytes = parseIp(text)
    assert.ok(bytes)
    assert.equal(formatIp(bytes), text)
  })
}

test('an IPv4-mapped address prints as IPv4 and equals it', () => {
  const mapped = parseIp('::ffff:10.0.0.1')
  const plain = parseIp('10.0.0.1')
  assert.ok(mapped && plain)
  assert.equal(mapped.length, 16)
  assert.equal(formatIp(mapped), '10.0.0.1')
  assert.ok(sameIp(mapped, plain))
  assert.ok(!sameIp(mapped, Uint8Array.of(10, 0, 0, 2)))
})

const refused = [
  '',
  '1',
  '1.2.3',
  '1.2.3.4.5',
  '01.2.3.4',
  '1.2.3.256',
  '1.2.3.4/8',
  ' 1.2.3.4',
  '0x1.2.3.4',
  '1.2.3.-4',
]
const refused6 = [
  ':',
  ':::',
  '1::2::3',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1:2:3:4:5:6:7::8',
  '12345::',
  'g::',
  'fe80::1%eth0',
  '[::1]',
]
const refusedMixed = ['1.2.3.4::', '::1.2.3', '::1.2.3.4:5', ':1:2:3:4:5:6:7', '1:2:3:4:5:6:7:1.2.3.4']

for (const text of [...refused, ...refused6, ...refusedMixed]) {
  test(`${JSON.stringify(text)} is no address`, () => assert.equal(parseIp(text), undefined))
}

test('the same texts are addresses as for node:net', () => {
  const part = fc.constantFrom('0', '1', 'ff', 'FFFF', '255', '256', '007', ':', '::', '.', '1.2.3.4', 'g')
  fc.assert(
    fc.property(
      fc.oneof(
        fc.ipV4(),
        fc.ipV6(),
        fc.array(part, { maxLength: 12 }).map(parts => parts.join('')),
      ),
      text => {
        assert.equal(parseIp(text) !== undefined, isIP(text) !== 0, text)
      },
    ),
    { numRuns: 1000 },
  )
})

test('IPv6 prints as a URL host does (RFC 5952), and reads back', () => {
  const words = fc.array(fc.constantFrom(0, 0, 1, 0xabcd), { minLength: 8, maxLength: 8 })
  fc.assert(
    fc.property(words, all => {
      const bytes = Uint8Array.from(all.flatMap(word => [word >> 8, word & 0xff]))
      const text = formatIp(bytes)
      assert.equal(`[${text}]`, new URL(`http://[${all.map(word => word.toString(16)).join(':')}]`).hostname)
      assert.deepEqual(parseIp(text), bytes)
    }),
  )
})
