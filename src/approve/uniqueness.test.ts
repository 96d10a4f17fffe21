import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { asking, servingFacts } from '../testing/judged-request.ts'
import { type Act, JudgedWorld } from '../testing/judged-world.ts'
import { judge } from './judge.ts'

// Few of each, so that they meet.
const pool = ['10.0.0.1', '10.0.0.2', 'fd00::1']
const node = fc.constantFrom('a', 'b', 'c')
const addresses = fc.uniqueArray(fc.constantFrom(...pool), { minLength: 1, maxLength: 2 })
const podCidr = fc.option(fc.constantFrom('0.0.0.0/0', '10.0.0.0/24', '10.0.0.2/32'), { nil: undefined })

const editing = [
  fc.record({ do: fc.constant('register' as const), node, addresses, podCidr }),
  fc.record({ do: fc.constant('list' as const), node, addresses }),
  fc.record({ do: fc.constant('ask' as const), node, addresses }),
  fc.record({ do: fc.constant('ask' as const), node, addresses: fc.constant<string[]>([]) }),
  fc.record({ do: fc.constant('wait' as const), hours: fc.integer({ min: 1, max: 5 }) }),
]
const ruling = [
  fc.record({
    do: fc.constant('require' as const),
    evidence: fc.constantFrom('NodeStatus' as const, 'Inventory' as const),
  }),
  fc.record({
    do: fc.constant('inventory' as const),
    addresses: fc.dictionary(node, addresses),
    floating: fc.dictionary(node, addresses),
  }),
]
const acts = (...kinds: fc.Arbitrary<Act>[]) => fc.array(fc.oneof(...kinds), { maxLength: 40, size: 'max' })
const runs = { numRuns: 400 }

function play(list: readonly Act[]): JudgedWorld {
  const world = new JudgedWorld()
  for (const act of list) world.act(act)
  return world
}

test('nothing is ever approved with an address that lacks evidence at the level required then', () => {
  fc.assert(
    fc.property(acts(...editing, ...ruling), list => {
      for (const { verdict, required, listed, inventoried, carried, asked } of play(list).judged) {
        if (verdict.outcome !== 'Approve') continue
        const proven = required === 'Inventory' ? [...inventoried, ...carried] : [...listed, ...inventoried]
        assert.deepEqual(
          asked.filter(address => !proven.includes(address)),
          [],
        )
      }
    }),
    runs,
  )
})

test('no address is certified for two living nodes, unless stronger evidence took it away and that was told', () => {
  fc.assert(
    fc.property(acts(...editing, ...ruling), list => {
      const world = new JudgedWorld()
      for (const act of list) {
        world.act(act)
        for (const address of pool) {
          const holders = world.live().filter(certified => certified.address === address)
          const untold = new Set(holders.filter(({ told }) => !told).map(({ node }) => node))
          assert.ok(untold.size <= 1, `${address}: ${[...untold]}`)
        }
      }
    }),
    runs,
  )
})

test('where the Node’s word is enough throughout, no address is certified for two living nodes at all', () => {
  fc.assert(
    fc.property(acts(...editing), list => {
      const world = new JudgedWorld()
      for (const act of list) {
        world.act(act)
        for (const address of pool) {
          const holders = world.live().filter(certified => certified.address === address)
          assert.ok(new Set(holders.map(({ node }) => node)).size <= 1, address)
        }
      }
    }),
    runs,
  )
})

/** What victim b gets for its own addresses, whatever the others do between. */
function verdictsOfVictim(before: readonly Act[], between: readonly Act[][]): string[] {
  const world = play(before)
  const ask = { do: 'ask', node: 'b', addresses: own } as const
  return between.map(list => {
    for (const act of list) world.act(act)
    world.act(ask)
    const [reason] = world.judged.at(-1)?.verdict.reasons ?? []
    return `${world.judged.at(-1)?.verdict.outcome} ${reason?.code} ${reason?.message}`
  })
}
const own = ['10.0.0.2', 'fd00::1']
const thieves = fc.constantFrom('a', 'c')
const thievery = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('register' as const), node: thieves, addresses, podCidr }),
    fc.record({ do: fc.constant('list' as const), node: thieves, addresses }),
    fc.record({ do: fc.constant('ask' as const), node: thieves, addresses: fc.constant<string[]>([]) }),
    fc.record({ do: fc.constant('delete' as const), node: thieves }),
  ),
  { maxLength: 12 },
)
const rounds = fc.array(thievery, { minLength: 1, maxLength: 4 })

test('no act of others delays or denies a node what it claimed first', () => {
  const early = fc.constantFrom<Act[]>([], [{ do: 'register', node: 'a', addresses: ['10.0.0.1'] }])
  fc.assert(
    fc.property(early, rounds, (before, between) => {
      const claim: Act = { do: 'register', node: 'b', addresses: own }
      const alone = verdictsOfVictim(
        [...before, claim],
        between.map(() => []),
      )
      assert.deepEqual(verdictsOfVictim([...before, claim], between), alone)
      assert.match(alone[0] ?? '', /^Approve/)
    }),
    runs,
  )
})

test('no pod range of others delays or denies a node that joins where other nodes already are', () => {
  const ranges = fc.constantFrom('0.0.0.0/0', '::/0', '10.0.0.0/8', '10.0.0.0/16', 'fd00::/64')
  const greedy = fc.array(
    fc.record({
      do: fc.constant('register' as const),
      node: thieves,
      addresses: fc.constant(['10.0.0.7']),
      podCidr: ranges,
    }),
    { maxLength: 4 },
  )
  const elder: Act = { do: 'register', node: 'elder', addresses: ['10.0.0.1', 'fd00::3'] }
  const join: Act = { do: 'register', node: 'b', addresses: own }
  fc.assert(
    fc.property(greedy, acts => {
      const [verdict] = verdictsOfVictim([elder, ...acts, join], [[]])
      assert.match(verdict ?? '', /^Approve/)
    }),
    runs,
  )
})

test('no act of others delays or denies a node what the inventory gives it, whoever claimed it first', () => {
  fc.assert(
    fc.property(thievery, rounds, (before, between) => {
      const rules: Act[] = [
        { do: 'inventory', addresses: { b: own } },
        { do: 'require', evidence: 'Inventory' },
      ]
      const claim: Act = { do: 'register', node: 'b', addresses: ['10.0.0.9'] }
      const alone = verdictsOfVictim(
        [...rules, claim],
        between.map(() => []),
      )
      assert.deepEqual(verdictsOfVictim([...rules, ...before, claim], between), alone)
      assert.match(alone[0] ?? '', /^Approve/)
    }),
    runs,
  )
})

test('the same facts in any order of SANs give the same verdict', () => {
  const dns = ['worker-1', 'WORKER-1', 'worker-1.cluster.internal', 'x.example', '*.x', 'worker-2', 'a b', '']
  const ips = ['10.0.0.11', '10.0.0.12', 'fd00::11', '127.0.0.1', '10.96.0.1', '64:ff9b::10.0.0.12']
  const subset = (of: string[]) => fc.shuffledSubarray(of)
  fc.assert(
    fc.property(subset(dns), subset(ips), fc.infiniteStream(fc.nat()), (names, addresses, numbers) => {
      const shuffled = (list: string[]) =>
        list
          .map(item => ({ item, key: numbers.next().value ?? 0 }))
          .sort((a, b) => a.key - b.key)
          .map(({ item }) => item)
      const verdict = judge(servingFacts(asking(names, addresses)))
      assert.deepEqual(judge(servingFacts(asking(shuffled(names), shuffled(addresses)))), verdict)
    }),
    runs,
  )
})
