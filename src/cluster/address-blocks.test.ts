import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { contains, parseRange } from '../approve/ip-range.ts'
import { fleetNode } from '../fleet/fleet-address.ts'
import { parseIp } from '../x509/ip.ts'
import { addressBlocks } from './address-blocks.ts'

test('addresses become blocks that hold them and no others', () => {
  assert.deepEqual(addressBlocks(['127.0.1.1', '127.0.1.3', '127.0.1.2', '127.0.1.9']), [
    '127.0.1.1/32',
    '127.0.1.2/31',
    '127.0.1.9/32',
  ])
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 80 }), { maxLength: 60 }), list => {
      const text = (last: number) => `10.0.0.${last}`
      const blocks = addressBlocks(list.map(text)).map(parseRange)
      for (let last = 0; last <= 82; last++) {
        const inside = blocks.some(block => contains(block, parseIp(text(last)) ?? new Uint8Array()))
        assert.equal(inside, list.includes(last))
      }
    }),
  )
})

test('the largest fleet fits into a policy', () => {
  const all = Array.from({ length: 60_000 }, (_, index) => fleetNode(index + 1).address)
  assert.ok(addressBlocks(all).length <= 4096)
})
