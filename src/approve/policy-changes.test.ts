import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { evidenceLevels } from '../kube/rollcall/certificate-policy/spec.ts'
import { asking, servingFacts } from '../testing/judged-request.ts'
import { type Act, JudgedWorld, poolLabel } from '../testing/judged-world.ts'
import { judge } from './judge.ts'

const node = fc.constantFrom('a', 'b')
const addresses = fc.uniqueArray(fc.constantFrom('10.0.0.1', '10.0.0.2', 'fd00::1'), {
  minLength: 1,
  maxLength: 2,
})
const evidence = fc.constantFrom(...evidenceLevels)
const label = fc.constantFrom('x', 'y')
// Few labels and racks, so that pools overlap.
const selectors = fc.constantFrom(
  { nodeLabels: { [poolLabel]: 'x' } },
  { nodeLabels: { [poolLabel]: 'y' } },
  { inventoryAttributes: { rack: 'x' } },
  { nodeLabels: { [poolLabel]: 'x' }, inventoryAttributes: { rack: 'y' } },
)
const pools = fc.array(
  fc
    .tuple(selectors, fc.option(evidence, { nil: undefined }))
    .map(([selects, level]) => ({ name: 'p', ...selects, ...(level && { evidence: level }) })),
  { maxLength: 3 },
)
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ do: fc.constant('register' as const), node, addresses }),
  fc.record({ do: fc.constant('list' as const), node, addresses }),
  fc.record({ do: fc.constant('assign' as const), node, addresses }),
  fc.record({ do: fc.constant('delete' as const), node }),
  fc.record({
    do: fc.constant('label' as const),
    node,
    pool: label,
    by: fc.constantFrom('operator' as const, 'node' as const),
  }),
  fc.record({ do: fc.constant('require' as const), evidence, pools }),
  fc.record({
    do: fc.constant('inventory' as const),
    addresses: fc.dictionary(node, addresses),
    racks: fc.dictionary(node, label),
    floating: fc.dictionary(node, addresses),
  }),
  fc.record({ do: fc.constant('protect' as const), on: fc.boolean() }),
  fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 5) }),
  fc.record({ do: fc.constant('ask' as const), node, addresses }),
  fc.record({ do: fc.constant('ask' as const), node, addresses: fc.constant<string[]>([]) }),
)
/** The levels by which something was approved. */
const approvedAt = new Set<string>()

test('no edits, labels, requests and policies in any order give a certificate with a SAN that lacks the evidence required', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60, size: 'max' }), list => {
      const world = new JudgedWorld()
      for (const one of list) world.act(one)
      for (const { verdict, required, listed, assigned, inventoried, carried, asked } of world.judged) {
        if (verdict.outcome !== 'Approve') continue
        approvedAt.add(asked.some(address => !inventoried.includes(address)) ? required : 'Inventory')
        const proofs: Record<typeof required, readonly string[]> = {
          NodeStatus: listed,
          ProtectedNodeStatus: assigned,
          Inventory: carried,
        }
        const proven = proofs[required]
        assert.deepEqual(
          asked.filter(address => !proven.includes(address) && !inventoried.includes(address)),
          [],
          required,
        )
      }
    }),
    { numRuns: 1500 },
  )
  assert.deepEqual([...approvedAt].sort(), [...evidenceLevels].sort(), 'each level was reached')
})

// A Node that was deleted holds nothing, and its certificate lives on: that is told of uniqueness elsewhere (ADR 6).
const undeleted = act.filter(one => one.do !== 'delete')

test('whatever policies come and go, no address is certified for two living nodes without stronger evidence, and that is told', () => {
  fc.assert(
    fc.property(fc.array(undeleted, { maxLength: 60, size: 'max' }), list => {
      const world = new JudgedWorld()
      for (const one of list) {
        world.act(one)
        const untold = Map.groupBy(
          world.live().filter(({ told }) => !told),
          ({ address }) => address,
        )
        for (const [address, holders] of untold)
          assert.ok(new Set(holders.map(({ node }) => node)).size <= 1, address)
      }
    }),
    { numRuns: 700 },
  )
})

test('under any policy the same facts in any order of SANs and pools give the same verdict', () => {
  const dns = ['worker-1', 'WORKER-1', 'worker-1.cluster.internal', 'x.example', '*.x']
  const ips = ['10.0.0.11', '10.0.0.12', 'fd00::11', '127.0.0.1']
  const terms = fc.record(
    {
      evidence,
      mode: fc.constantFrom('enforce' as const, 'manual' as const, 'dryRun' as const),
      sans: fc.record({
        dnsNames: fc.constantFrom(['worker-1'], ['*.cluster.internal', 'worker-1']),
        maxCount: fc.constantFrom(1, 5),
      }),
      keys: fc.constantFrom(['P-256' as const], ['P-384' as const]),
    },
    { requiredKeys: [] },
  )
  const shuffled = fc.tuple(fc.shuffledSubarray(dns), fc.shuffledSubarray(ips))
  fc.assert(
    fc.property(
      shuffled,
      evidence,
      terms,
      terms,
      fc.boolean(),
      ([names, list], own, first, second, inForce) => {
        const select = { inventoryAttributes: {} }
        const both = [first, second].map((pool, n) => ({ name: `p${n}`, ...select, ...pool }))
        const protection = inForce ? { inForce, since: 0 } : { inForce, why: 'no' }
        const judged = (names: string[], list: string[], pools: typeof both) => {
          const policy = { evidence: own, allowedRanges: [], pools }
          const { outcome, reasons } = judge(servingFacts({ ...asking(names, list), policy, protection }))
          return { outcome, code: reasons[0]?.code }
        }
        assert.deepEqual(
          judged(names.toReversed(), list.toReversed(), both.toReversed()),
          judged(names, list, both),
        )
      },
    ),
    { numRuns: 500 },
  )
})
