import assert from 'node:assert/strict'
import { test } from 'node:test'
import { consumer, minutes, planIn, quiet, start } from '../../rollover/testing/quiet-cluster.ts'
import { strangersToAsk } from './strangers-to-ask.ts'

const { proof: _, ...silent } = consumer('pod/web-0 7c1e', 'Pod')
const laptop = { ...silent, id: 'user/anna at 10.0.0.7 by kubectl', kind: 'External' as const }
const agent = consumer('agent/node-1', 'Agent')
const later = start + 11 * minutes
const at = (now: number, consumers: readonly ReturnType<typeof consumer>[]) =>
  quiet({ now, consumers: consumers.map(one => ({ ...one, lastSeen: now })) })

test('who has no agent is asked when mounted CAs have had time to follow, and only who has not proven', () => {
  const proven = consumer('pod/db-0 91aa', 'Pod')
  const all = [agent, silent, laptop, proven]
  const plan = planIn('Proving')
  assert.deepEqual(strangersToAsk(plan, 2, at(start + 9 * minutes, all)), new Set())
  assert.deepEqual(strangersToAsk(plan, 2, at(later, all)), new Set([silent.id, laptop.id]))
  // One that comes when the phase is another has mounted what is published.
  assert.deepEqual(strangersToAsk(planIn('Bridging'), 2, at(start, all)), new Set([silent.id, laptop.id]))
})

test('nobody is asked before the agents that are there, nor who was left behind or vouched for', () => {
  const { proof: __, ...unproven } = agent
  assert.deepEqual(strangersToAsk(planIn('Proving'), 2, at(later, [unproven, silent])), new Set())
  const by = { by: 'berta', at: later }
  const plan = planIn('Proving', {
    excluded: [{ ...by, consumer: silent.id, reason: 'gone' }],
    wishes: { ...planIn('Proving').wishes, acknowledgements: [{ ...by, consumer: laptop.id }] },
  })
  assert.deepEqual(strangersToAsk(plan, 2, at(later, [agent, silent, laptop])), new Set())
})
