import { test } from 'node:test'
import { type Case, servingCases } from '../../testing/judged-cases.ts'
import { asking, nodeNamed, worker2 } from '../../testing/judged-request.ts'
import { CertifiedIndex } from '../certified-addresses.ts'

const certified = new CertifiedIndex()
certified.add('worker-1', ['worker-1', '10.0.0.11'], Number.POSITIVE_INFINITY)
const moved = [nodeNamed('worker-1', { 'worker-1': 'Hostname', '10.0.0.99': 'InternalIP' }), worker2]

const cases: Case[] = [
  [
    'K1 the names of the live certificate, which the Node still has',
    { certified, ...asking(['worker-1']) },
    'Approve',
    'SansProven',
  ],
  [
    'K1 the names of the live certificate, one of which the Node has no more',
    { certified, nodes: moved, ...asking(['worker-1']) },
    'Wait',
    'SanUnproven',
  ],
  [
    'K4 in another order, twice and in other spelling',
    { certified, ...asking(['WORKER-1', 'worker-1'], ['::ffff:10.0.0.11', '10.0.0.11']) },
    'Approve',
    'SansProven',
  ],
]
for (const [title, run] of servingCases(cases)) test(title, run)
