import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sha256Hex } from '../x509/fingerprint.ts'
import { KeyHolders } from './key-holders.ts'

const second = 1000

test('who holds a key is what a plain list of certificates says, however many were added and expired', () => {
  const certificate = fc.record({
    key: fc.integer({ min: 0, max: 400 }),
    node: fc.constantFrom('a', 'b', 'c'),
    life: fc.integer({ min: 1, max: 2000 }),
  })
  fc.assert(
    fc.property(fc.array(certificate, { maxLength: 1500, size: 'max' }), certificates => {
      const index = new KeyHolders()
      const plain: { key: string; node: string; until: number }[] = []
      let now = 0
      for (const { key, node, life } of certificates) {
        now += second
        const keyHash = sha256Hex(Buffer.from(`${key}`))
        index.add(keyHash, node, now + life * second, now)
        plain.push({ key: keyHash, node, until: now + life * second })
      }
      for (const { key } of plain) {
        const expected = new Map<string, number>()
        for (const other of plain)
          if (other.key === key && other.until > now)
            expected.set(other.node, Math.max(other.until, expected.get(other.node) ?? 0))
        const found = index.holders(key, now).map(({ nodeName, until }) => [nodeName, until])
        assert.deepEqual(found.sort(), [...expected].sort())
      }
    }),
    { numRuns: 20 },
  )
})

test('a certificate without an end counts, and one that has ended does not', () => {
  const index = new KeyHolders()
  index.add('0'.repeat(64), 'a', Date.UTC(9999, 11, 31), 0)
  index.add('f'.repeat(64), 'b', 1000, 1000)
  assert.deepEqual(
    index.holders('0'.repeat(64), Date.UTC(2100, 0)).map(({ nodeName }) => nodeName),
    ['a'],
  )
  assert.deepEqual(index.holders('f'.repeat(64), 1000), [])
})
