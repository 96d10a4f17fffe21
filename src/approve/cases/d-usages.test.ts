import { test } from 'node:test'
import { type Case, servingCases } from '../../testing/judged-cases.ts'

const using = (...usages: string[]) => ({ spec: { usages } })
const [signature, encipherment, server] = ['digital signature', 'key encipherment', 'server auth']

// D1 asks ECDSA for key encipherment too: kubelets before 1.27 do.
const cases: Case[] = [
  [
    'D1 with key encipherment, RSA',
    { ...using(signature, encipherment, server), asked: { keyType: 'RSA-2048' } },
    'Approve',
    'SansProven',
  ],
  ['D1 with key encipherment, P-256', using(signature, encipherment, server), 'Approve', 'SansProven'],
  ['D3 none', using(), 'Deny', 'UsagesInvalid'],
  ['D5 no server auth', using(signature, encipherment), 'Deny', 'UsagesInvalid'],
  ['D7 signing too', using(signature, encipherment, server, 'signing'), 'Deny', 'UsagesInvalid'],
  ['D11 in another order', using(server, signature), 'Approve', 'SansProven'],
  ['client auth', using(signature, 'client auth'), 'Deny', 'UsagesInvalid'],
  ['both auths', using(signature, server, 'client auth'), 'Deny', 'UsagesInvalid'],
  ['digital signature only', using(signature), 'Deny', 'UsagesInvalid'],
]
for (const [title, run] of servingCases(cases)) test(title, run)
