import { test } from 'node:test'
import { type Case, servingCases } from '../../testing/judged-cases.ts'
import { createdAt } from '../../testing/judged-request.ts'

const history = (approvals: number) => ({ history: { approvals, denials: 0 } })
const policy = { evidence: 'NodeStatus', allowedRanges: [], approvalsPerHour: 3 } as const

// Each node has a budget of its own: how many nodes or machines there are does not come into it.
const cases: Case[] = [
  ['M1 the last request within the standard budget of 120', history(119), 'Approve', 'SansProven'],
  ['M1 the first one beyond it waits', history(120), 'Wait', 'Throttled'],
  [
    'M1 and is denied before the kubelet gives it up',
    { ...history(120), now: createdAt + 840_000 },
    'Deny',
    'Throttled',
  ],
  ['M1 the last request within the budget of a policy', { ...history(2), policy }, 'Approve', 'SansProven'],
  ['M1 the first one beyond that', { ...history(3), policy }, 'Wait', 'Throttled'],
]
for (const [title, run] of servingCases(cases)) test(title, run)
