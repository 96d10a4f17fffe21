import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../testing/seeded-random.ts'
import { authorityPool } from './simulated/authority-pool.ts'
import type { EnvironmentOptions } from './simulated/environment.ts'
import { type MutationName, mutations } from './simulated/mutations.ts'
import { runSchedule } from './testing/schedule.ts'

interface Simplification {
  name: MutationName
  says: string
  /** What breaks first. */
  breaks: RegExp
  role?: 'client'
  /** Where the search begins: at the first seed that may find it, to keep the run short. */
  from?: number
  nodes?: number
  often?: EnvironmentOptions['often']
}

const list: Simplification[] = [
  { name: 'nonMonotonic', says: 'M0 seeds first and bundles that go back', breaks: /^I1:/, from: 15 },
  { name: 'noGate', says: 'M1 no gate before the switch', breaks: /^I1:/ },
  { name: 'writtenIsLoaded', says: 'M2 a file that is written counts as loaded', breaks: /^I1:/ },
  {
    name: 'snapshotOfConsumers',
    says: 'M3 who joined later does not count',
    breaks: /^I1:.*joiner/,
    often: { joined: 10, synced: 5 },
  },
  {
    name: 'offlineIgnored',
    says: 'M4 who is away does not count',
    breaks: /^I1:/,
    from: 40,
    nodes: 1,
    often: { away: 10, back: 1, joined: 0, remade: 0, jumped: 0, server: 0, wished: 4 },
  },
  {
    name: 'proofOfAnyInstance',
    says: 'M5 a proof counts for every later instance',
    breaks: /^I1: node-1/,
    from: 60,
    nodes: 1,
    often: { remade: 6, synced: 8, reported: 8, joined: 0, pass: 40 },
  },
  { name: 'noLiveGate', says: 'M6 live leaves of the old CA do not count', breaks: /^I3:/, role: 'client' },
  { name: 'notReapplied', says: 'M7 an effect is said once only', breaks: /^I9:/ },
  { name: 'seedsForgotten', says: 'M8 what new machines start with does not count', breaks: /^I10:/ },
]

const pool = await authorityPool(4, seededRandom(77))
const budget = 120

for (const { name, says, breaks, role = 'apiserver-serving', from = 1, nodes = 3, often = {} } of list)
  test(`the model catches ${says}`, () => {
    for (let seed = from; seed < from + budget; seed += 1) {
      const policy = {
        bridge: seed % 3 === 0 ? 'CrossSigned' : 'None',
        timings: { bridgeSoak: '1m' },
      } as const
      const mutation = mutations[name]
      const { violation } = runSchedule({ pool, role, seed, mutation, actions: 300, policy, nodes, often })
      if (violation !== undefined && breaks.test(violation)) return
    }
    assert.fail(`${budget} schedules from seed ${from} on did not break ${breaks}`)
  })
