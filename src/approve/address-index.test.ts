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

/** A Node of that age with one address, and a pod range. */
function aged(name: string, created: number, address: string, podCIDR = '') {
  const node = nodeNamed(name, { [address]: 'InternalIP' })
  const creationTimestamp = new Date(created).toISOString()
  return { ...node, metadata: { ...node.metadata, creationTimestamp }, spec: { podCIDR } }
}

for (const [what, range, address, seen] of [
  ['all addresses', '0.0.0.0/0', '10.0.0.3', [1, 2]],
  ['the network of the nodes', '10.0.0.0/16', '10.0.0.3', [1, 2]],
  ['an IPv6 network of the nodes', 'fd00::/64', 'fd00::3', [1, 2]],
  ['all addresses, told when all Nodes were there', '0.0.0.0/0', '10.0.0.3', [0, 0]],
] as const)
  test(`a Node whose pod range is ${what}, where another Node was before, claims none of them`, () => {
    const index = new AddressIndex()
    index.set(aged('elder', 1000, address.replace(/3$/, '1')), seen[0])
    index.set(aged('thief', 2000, '192.0.2.1', range), seen[1])
    assert.deepEqual(index.claims(address), [])
    index.remove('elder')
    assert.deepEqual(
      index.claims(address).map(({ nodeName }) => nodeName),
      ['thief'],
    )
  })

test('a Node that lists an address in the pod range of an earlier one takes none of it away', () => {
  for (const range of ['10.0.0.0/24', '10.0.0.0/16'])
    for (const seen of [0, 1]) {
      const index = new AddressIndex()
      index.set(aged('a', 1000, '192.0.2.1', range), seen)
      index.set(aged('thief', 2000, '10.0.0.9'), 2 * seen)
      assert.deepEqual(
        index.claims('10.0.0.9').map(({ nodeName }) => nodeName),
        ['thief', 'a'],
      )
    }
})
