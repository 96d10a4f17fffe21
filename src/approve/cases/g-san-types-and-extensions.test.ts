import { test } from 'node:test'
import { type Case, servingCases } from '../../testing/judged-cases.ts'
import { extension, sans } from '../../testing/judged-request.ts'
import type { SubjectAltName } from '../../x509/san.ts'

const own = ['worker-1']
const also = (more: Partial<SubjectAltName>) => ({ asked: { subjectAltName: sans(own, [], more) } })
const extended = (...ids: string[]) => ({ asked: { extensions: ['2.5.29.17', ...ids].map(extension) } })

// G6 and G7 differ in bytes: c-encoding.test.ts.
const cases: Case[] = [
  ['G1 an email address', also({ emailAddresses: ['a@b'] }), 'Deny', 'ForbiddenSanType'],
  ['G2 a URI', also({ uris: ['spiffe://a/b'] }), 'Deny', 'ForbiddenSanType'],
  ['G3 both', also({ emailAddresses: ['a@b'], uris: ['spiffe://a/b'] }), 'Deny', 'ForbiddenSanType'],
  ['G4 no SAN', { asked: { subjectAltName: sans([], []), extensions: [] } }, 'Deny', 'InvalidSan'],
  ['G4 a SAN extension without a name', { asked: { subjectAltName: sans([], []) } }, 'Deny', 'InvalidSan'],
  ...(
    [
      ['otherName', 0],
      ['x400Address', 3],
      ['directoryName', 4],
      ['ediPartyName', 5],
      ['registeredID', 8],
    ] as const
  ).map(([what, tag]): Case => [`G5 ${what}`, also({ others: [tag] }), 'Deny', 'ForbiddenSanType']),
  [
    'G8 a critical SAN',
    { asked: { extensions: [{ ...extension('2.5.29.17'), critical: true }] } },
    'Approve',
    'SansProven',
  ],
  ['G9 an unknown extension', extended('1.2.3.4.5.99'), 'Deny', 'ForbiddenExtension'],
  ['G10 basicConstraints', extended('2.5.29.19'), 'Deny', 'ForbiddenExtension'],
  ['G11 keyUsage', extended('2.5.29.15'), 'Deny', 'ForbiddenExtension'],
  ['G11 extendedKeyUsage', extended('2.5.29.37'), 'Deny', 'ForbiddenExtension'],
  ['G12 name constraints', extended('2.5.29.30'), 'Deny', 'ForbiddenExtension'],
  ['G12 certificate policies', extended('2.5.29.32'), 'Deny', 'ForbiddenExtension'],
  ['G12 must-staple', extended('1.3.6.1.5.5.7.1.24'), 'Deny', 'ForbiddenExtension'],
]
for (const [title, run] of servingCases(cases)) test(title, run)
