import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificateSigningRequest, CsrCondition } from '../kube/types.ts'
import { signingAuthority } from '../testing/signing-authority.ts'
import { cleaningReason } from './cleanable.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const before = (seconds: number) => new Date(now - seconds * 1000).toISOString().replace('.000', '')
const hour = 3600
const day = 24 * hour
const valid = await signingAuthority(now)
const certificate = Buffer.from(valid.pem).toString('base64')
const expired = Buffer.from((await signingAuthority(now - 20 * 365 * 86_400_000)).pem).toString('base64')

interface Row {
  created?: number
  conditions?: [type: string, secondsAgo: number | undefined][]
  certificate?: string
}

// C-40; ages are strictly greater.
const cases: [what: string, row: Row, cleaned: boolean][] = [
  ['pending for 24 h', { created: day }, false],
  ['pending for longer', { created: day + 1 }, true],
  ['denied 1 h ago', { conditions: [['Denied', hour]] }, false],
  ['denied longer ago', { conditions: [['Denied', hour + 1]] }, true],
  [
    'failed 1 h ago',
    {
      conditions: [
        ['Approved', hour],
        ['Failed', hour],
      ],
    },
    false,
  ],
  [
    'failed longer ago',
    {
      conditions: [
        ['Approved', hour + 1],
        ['Failed', hour + 1],
      ],
    },
    true,
  ],
  ['issued 1 h ago', { conditions: [['Approved', hour]], certificate }, false],
  ['issued longer ago', { conditions: [['Approved', hour + 1]], certificate }, true],
  ['issued just now, already expired', { conditions: [['Approved', 1]], certificate: expired }, true],
  ['approved, unissued for 24 h', { conditions: [['Approved', day]] }, false],
  ['approved, unissued for longer', { conditions: [['Approved', day + 1]] }, true],
  ['denied at no time', { conditions: [['Denied', undefined]], created: 2 * day }, false],
  ['with conditions nobody knows only', { conditions: [['Odd', 2 * day]], created: 2 * day }, false],
  ['issued without being approved', { conditions: [['Odd', 2 * day]], certificate }, false],
]

for (const [what, { created = 0, conditions = [], certificate }, cleaned] of cases)
  test(`C-40: a request ${what} is ${cleaned ? 'deleted' : 'kept'}`, () => {
    const csr: CertificateSigningRequest = {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'c', creationTimestamp: before(created) },
      spec: { request: '', signerName: 'a/b', usages: [] },
      status: {
        conditions: conditions.map(
          ([type, ago]): CsrCondition => ({
            type,
            status: 'True',
            ...(ago === undefined ? {} : { lastUpdateTime: before(ago) }),
          }),
        ),
        ...(certificate ? { certificate } : {}),
      },
    }
    assert.equal(cleaningReason(csr, now) !== undefined, cleaned)
  })
