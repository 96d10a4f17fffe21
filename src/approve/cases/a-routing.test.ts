import { test } from 'node:test'
import type { CertificateSigningRequest } from '../../kube/types.ts'
import { type Case, servingCases } from '../../testing/judged-cases.ts'
import { servingFacts } from '../../testing/judged-request.ts'

const { csr } = servingFacts()
const inState = (changes: Partial<CertificateSigningRequest>) => ({ csr: { ...csr, ...changes } })
const condition = (type: string) => inState({ status: { conditions: [{ type, status: 'True' }] } })

// A8, A10 to A16 need a cluster: src/controller/approval.test.ts, faults.test.ts and history.test.ts here.
const cases: Case[] = [
  ['A1 the request of a healthy kubelet', {}, 'Approve', 'SansProven'],
  ['A4 it is denied', condition('Denied'), 'Ignore', 'AlreadyDecided'],
  ['A5 it failed', condition('Failed'), 'Ignore', 'AlreadyDecided'],
  ['A6 it is issued', inState({ status: { certificate: 'eA==' } }), 'Ignore', 'AlreadyDecided'],
  [
    'A7 it is being deleted',
    inState({ metadata: { name: 'c', deletionTimestamp: '2026-03-01T12:00:00Z' } }),
    'Ignore',
    'Deleting',
  ],
  ['A12 it is approved', condition('Approved'), 'Ignore', 'AlreadyDecided'],
  [
    'A14 it is for another signer',
    { spec: { signerName: 'kubernetes.io/kube-apiserver-client' } },
    'Ignore',
    'NotOurs',
  ],
]
for (const [title, run] of servingCases(cases)) test(title, run)
