import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clientFacts, extension, type FactChanges, withSubject } from '../testing/judged-request.ts'
import { judge } from './judge.ts'
import type { Outcome, ReasonCode } from './verdict.ts'

const both = ['system:nodes', 'system:authenticated']

type Row = [id: string, changes: FactChanges, outcome: Outcome, code: ReasonCode]

const cases: Row[] = [
  ['a bootstrapping node', {}, 'Approve', 'AutoApproved'],
  ['a bootstrapping node, no policy', { policy: undefined }, 'Approve', 'AutoApproved'],
  ['a bootstrapping node before its Node is there', { nodes: [] }, 'Approve', 'AutoApproved'],
  ['C-31 an empty node name', withSubject('system:node:'), 'Deny', 'SubjectMismatch'],
  ['a node name that no Node can have', withSubject('system:node:a/b'), 'Deny', 'SubjectMismatch'],
  [
    'J11 a renewal',
    {
      spec: { username: 'system:node:worker-1', groups: both },
      access: { tried: ['selfnodeclient'], allowed: 'selfnodeclient' },
    },
    'Approve',
    'AutoApproved',
  ],
  [
    'J12 a node asks for another',
    { spec: { username: 'system:node:worker-2', groups: both } },
    'Deny',
    'SubjectMismatch',
  ],
  [
    'a stranger asks for a node',
    { spec: { username: 'eve', groups: ['system:authenticated'] } },
    'Deny',
    'RequesterNotNode',
  ],
  ['J4 serving usages', { spec: { usages: ['digital signature', 'server auth'] } }, 'Deny', 'UsagesInvalid'],
  [
    'a SAN in a client request',
    { asked: { extensions: [extension('2.5.29.17')] } },
    'Deny',
    'ForbiddenSanType',
  ],
  ['access not reviewed yet', { access: undefined }, 'Retry', 'AccessNotReviewed'],
  [
    'C-14 access not allowed',
    { access: { tried: ['selfnodeclient', 'nodeclient'] } },
    'Retry',
    'NotAuthorised',
  ],
]

for (const [id, changes, outcome, code] of cases)
  test(`${id}: ${outcome} ${code}`, () => {
    const verdict = judge(clientFacts(changes))
    assert.deepEqual(
      [verdict.outcome, verdict.reasons[0]?.code],
      [outcome, code],
      verdict.reasons[0]?.message,
    )
  })
