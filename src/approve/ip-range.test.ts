import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { ip } from '../testing/judged-request.ts'
import { contains, parseRange } from './ip-range.ts'

for (const [range, inside, outside] of [
  ['10.0.0.0/8', '10.255.255.255', '11.0.0.0'],
  ['127.0.1.0/25', '127.0.1.127', '127.0.1.128'],
  ['192.0.2.7/32', '192.0.2.7', '192.0.2.6'],
  ['0.0.0.0/0', '255.1.2.3', '::2'],
  ['fe80::/10', 'febf::1', 'fec0::1'],
  ['::1/128', '::1', '::2'],
  ['::ffff:10.0.0.0/104', '10.1.2.3', '11.0.0.0'],
] as const)
  test(`${range} holds ${inside} and not ${outside}`, () => {
    assert.ok(contains(parseRange(range), ip(inside)))
    assert.ok(!contains(parseRange(range), ip(outside)))
  })

for (const text of [
  '',
  '10.0.0.0',
  '10.0.0.0/33',
  'fd00::/129',
  '10.0.0.0/8/8',
  '10.0.0.0/-1',
  '10.0.0/8',
  'x/8',
  '10.0.0.0/',
])
  test(`"${text}" is no range`, () =>
    assert.throws(
      () => parseRange(text),
      error => hasCode(error, 'POLICY_INVALID'),
    ))

test('an IPv4 address and its IPv4-mapped form are in the same ranges', () => {
  const octet = fc.integer({ min: 0, max: 255 })
  fc.assert(
    fc.property(
      fc.tuple(octet, octet, octet, octet),
      fc.tuple(octet, octet),
      fc.integer({ min: 0, max: 32 }),
      (a, b, bits) => {
        const range = parseRange(`${b[0]}.${b[1]}.0.0/${bits}`)
        assert.equal(contains(range, Uint8Array.from(a)), contains(range, ip(`::ffff:${a.join('.')}`)))
      },
    ),
  )
})
