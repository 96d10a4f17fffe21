import { test } from 'node:test'
import type { IdentityState, MintedToken, NodeIdentityObject } from '../../kube/rollcall/node-identity.ts'
import { type Case, clientCases } from '../../testing/judged-cases.ts'
import { type FactChanges, withSubject } from '../../testing/judged-request.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import type { AttestationFacts } from '../facts.ts'

const spki = sha256Hex(new Uint8Array())
const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated']
/** As Kubernetes stamps a token of the account. */
const by = (id: string) => ({
  username: 'system:serviceaccount:kube-system:rollcall-attest',
  groups,
  extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${id}`] },
})

function identity(token: Partial<MintedToken> = {}, state: IdentityState = 'Approved'): NodeIdentityObject {
  return {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'NodeIdentity',
    metadata: { name: 'worker-1' },
    spec: { state, key: { type: 'TPM', sha256: '1'.repeat(64) } },
    status: { tokens: [{ id: 'minted', spki, expires: '2026-03-01T12:10:00Z', ...token }] },
  }
}

const attested = (attestation: AttestationFacts | undefined, more: FactChanges = {}): FactChanges => ({
  spec: by('minted'),
  access: undefined,
  attestation,
  ...more,
})

/** The token was used for another request before. */
const used = (usedBefore: AttestationFacts['usedBefore'], holder?: string): FactChanges =>
  attested(
    {
      identity: identity({ request: { name: 'csr-before', uid: 'before' } }),
      ...(usedBefore && { usedBefore }),
    },
    {
      certified: {
        holders: () => [],
        keyHolders: () => (holder ? [{ nodeName: holder, until: Number.POSITIVE_INFINITY }] : []),
      },
    },
  )

const strict = { evidence: 'NodeStatus', allowedRanges: [], rebootstrap: 'deny' } as const

const cases: Case[] = [
  ['L1 a machine that has proven itself', attested({ identity: identity() }), 'Approve', 'MachineAttested'],
  ['L1 before its identity was read', attested(undefined), 'Retry', 'IdentityNotRead'],
  [
    'L2 the subject is no node name',
    attested({ identity: identity() }, withSubject('system:node:Worker_1')),
    'Deny',
    'SubjectMismatch',
  ],
  [
    'L2 the name of another machine',
    attested({ identity: identity({ id: 'of another' }) }, withSubject('system:node:worker-2')),
    'Deny',
    'AttestationUnknown',
  ],
  [
    'L3 attested for another key',
    attested({ identity: identity({ spki: '0'.repeat(64) }) }),
    'Deny',
    'AttestedOtherKey',
  ],
  ['L4 a machine that nobody knows', attested({}), 'Deny', 'AttestationUnknown'],
  [
    'L4 a machine that was revoked',
    attested({ identity: identity({}, 'Revoked') }),
    'Deny',
    'IdentityRevoked',
  ],
  [
    'L4 a machine that waits for approval',
    attested({ identity: identity({}, 'Pending') }),
    'Deny',
    'IdentityRevoked',
  ],
  [
    'L6 another account, with the rights of the first',
    attested(
      { identity: identity() },
      { spec: { ...by('minted'), username: 'system:serviceaccount:kube-system:other' } },
    ),
    'Deny',
    'RequesterNotNode',
  ],
  [
    'L6 a token without an id',
    attested({ identity: identity({ id: '' }) }, { spec: { ...by('minted'), extra: {} } }),
    'Deny',
    'AttestationUnknown',
  ],
  [
    'L8 its Node exists, and the policy wants none',
    attested({ identity: identity() }, { policy: strict }),
    'Approve',
    'MachineAttested',
  ],
  [
    'L9 a token from before the identity was made anew',
    attested({ identity: { ...identity(), status: {} } }),
    'Deny',
    'AttestationUnknown',
  ],
  ['L9 a second certificate', used('issued'), 'Deny', 'AttestationUsed'],
  ['L9 a second request while the first has no certificate yet', used('open'), 'Retry', 'AttestationInUse'],
  ['L9 the first request was refused', used('refused'), 'Approve', 'MachineAttested'],
  ['L9 the first request is gone', used('gone'), 'Approve', 'MachineAttested'],
  [
    'L9 the first request is gone, its certificate is not',
    used('gone', 'worker-1'),
    'Deny',
    'AttestationUsed',
  ],
]

for (const [title, run] of clientCases(cases)) test(title, run)
