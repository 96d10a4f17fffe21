import { test } from 'node:test'
import { type Case, servingCases } from '../../testing/judged-cases.ts'
import { asking, createdAt, worker2 } from '../../testing/judged-request.ts'

const afterWaiting = { now: createdAt + 300_000 }
const oddities = [{ code: 'trailing-elements', text: 'x' }] as const

const cases: Case[] = [
  ['no Node yet', { nodes: [worker2] }, 'Wait', 'NodeNotFound'],
  ['no Node after five minutes', { nodes: [worker2], ...afterWaiting }, 'Deny', 'NodeNotFound'],
  [
    'no evidence after five minutes',
    { ...asking(['worker-1.other']), ...afterWaiting },
    'Deny',
    'SanUnproven',
  ],
  ['an oddity', { asked: { oddities: [...oddities] } }, 'Deny', 'Malformed'],
  [
    'an oddity does not wait for the Node',
    { nodes: [], asked: { oddities: [...oddities] } },
    'Deny',
    'Malformed',
  ],
  ['M9 no policy', { policy: undefined }, 'Hold', 'NoPolicy'],
  [
    'M9 no policy, and no node asks',
    { policy: undefined, spec: { username: 'eve', groups: [] } },
    'Hold',
    'NoPolicy',
  ],
]
for (const [title, run] of servingCases(cases)) test(title, run)
