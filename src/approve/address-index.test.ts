import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nodeNamed } from '../testing/judged-request.ts'
import { AddressIndex, claimedBy } from './address-index.ts'

test('a Node claims its name and its addresses, however they are written', () => {
  const node = nodeNamed('a', {
    'A.example.': 'InternalDNS',
    'FD00:0::1': 'InternalIP',
    'fe80::1%eth0': 'InternalIP',
  })
  assert.deepEqual([...claimedBy(node)].sort(), ['a', 'a.example', 'fd00::1', 'fe80::1%eth0'])
})

test('after any changes the index holds what the Nodes claim now', () => {
  const name = fc.constantFrom('a', 'b', 'c')
  const address = fc.constantFrom('10.0.0.1', '10.0.0.2', '::ffff:10.0.0.1', 'x', 'X', 'b')
  const change = fc.record({ name, addresses: fc.option(fc.uniqueArray(address), { nil: undefined }) })
  fc.assert(
    fc.property(fc.array(change), changes => {
      const index = new AddressIndex()
      const nodes = new Map<string, Set<string>>()
      for (const { name, addresses } of changes) {
        const node = nodeNamed(name, Object.fromEntries((addresses ?? []).map(text => [text, 'Hostname'])))
        if (addresses) index.set(node)
        else index.remove(name)
        if (addresses) nodes.set(name, claimedBy(node))
        else nodes.delete(name)
      }
      for (const claim of ['10.0.0.1', '10.0.0.2', 'x', 'a', 'b', 'c']) {
        const holders = [...nodes].filter(([, claims]) => claims.has(claim)).map(([name]) => name)
        assert.deepEqual(index.holders(claim), holders.sort())
      }
    }),
  )
})
