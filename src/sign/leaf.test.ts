import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { madeLeaf } from '../testing/made-leaf.ts'
import { decodeLeaf, encodeLeaf, type Leaf } from './leaf.ts'

const start = Date.UTC(2026, 2, 1, 12)

const seconds = fc.integer({ min: 0, max: 4_000_000_000 }).map(value => value * 1000)
const leaf: fc.Arbitrary<Leaf> = fc.record(
  {
    serialNumber: fc.constantFrom('00', '0b5e1f', 'ff'.repeat(20)),
    issuer: fc.string(),
    issuerFingerprint: fc.string(),
    signerName: fc.string(),
    holder: fc.string({ unit: 'grapheme' }),
    dnsNames: fc.array(fc.string()),
    ipAddresses: fc.array(fc.ipV4()),
    notBefore: seconds,
    notAfter: seconds,
    publicKeyHash: fc.string(),
    request: fc.record({ name: fc.string() }, { noNullPrototype: true }),
  },
  { noNullPrototype: true },
)

test('a leaf is read as it was written, on one line', () => {
  fc.assert(
    fc.property(leaf, written => {
      const line = encodeLeaf(written)
      assert.ok(!line.includes('\n'))
      assert.deepEqual(decodeLeaf(written.serialNumber, line), written)
    }),
  )
})

test('what no ledger wrote is no leaf', () => {
  const line = encodeLeaf(madeLeaf(start))
  const { dns: _dns, ...lacking } = JSON.parse(line)
  const others = ['', '{', 'null', '[]', '"x"', JSON.stringify(lacking), line.replace('["a"]', '[1]')]
  for (const other of [...others, line.replace('2026-03-01T12', '2026-33-01T12')])
    assert.equal(decodeLeaf('01', other), undefined, other)
})

test('a line of a node takes some 400 bytes', () => {
  const request = { name: `node-csr-${'x'.repeat(43)}`, uid: 'u' }
  const line = encodeLeaf(madeLeaf(start, { holder: 'system:node:worker-0001.example.org', request }))
  assert.ok(line.length < 480, String(line.length))
})
