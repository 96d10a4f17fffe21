import assert from 'node:assert/strict'
import { test } from 'node:test'
import { signerNames } from '../kube/types.ts'
import { clientFacts, type FactChanges, sans, servingFacts } from '../testing/judged-request.ts'
import { nameOf } from '../x509/name.ts'
import { profileOf } from './profiles.ts'

const subject = (commonName: string, organizations: string[]) => nameOf({ commonName, organizations })
const node = (organizations: string[]) => subject('system:node:a', organizations)

type Row = [what: string, changes: FactChanges, refusal: string | undefined]

const shared: Row[] = [
  ['a kubelet', {}, undefined],
  ['no organization', { asked: { subject: node([]) } }, 'subject organization is not system:nodes'],
  [
    'a second organization',
    { asked: { subject: node(['system:nodes', 'x']) } },
    'subject organization is not system:nodes',
  ],
  [
    'a CN without prefix',
    { asked: { subject: subject('a', ['system:nodes']) } },
    'subject common name does not begin with system:node:',
  ],
  [
    'an email address',
    { asked: { subjectAltName: sans([], [], { emailAddresses: ['a@b'] }) } },
    'Email subjectAltNames are not allowed',
  ],
  [
    'a URI',
    { asked: { subjectAltName: sans([], [], { uris: ['spiffe://a'] }) } },
    'URI subjectAltNames are not allowed',
  ],
]

const serving: Row[] = [
  ...shared.map(([what, changes, refusal]): Row => {
    const san = changes.asked?.subjectAltName
    return [what, san ? { asked: { subjectAltName: { ...san, dnsNames: ['a'] } } } : changes, refusal]
  }),
  ['C-30: no SAN', { asked: { subjectAltName: sans([], []) } }, 'DNS or IP subjectAltName is required'],
  [
    'key encipherment as well',
    { spec: { usages: ['key encipherment', 'server auth', 'digital signature'] } },
    undefined,
  ],
  [
    'client auth',
    { spec: { usages: ['digital signature', 'client auth'] } },
    'usages did not match [digital signature key encipherment server auth]',
  ],
  [
    'C-30: all wrong, the organization is named first',
    { spec: { usages: [] }, asked: { subject: subject('a', []), subjectAltName: sans([], []) } },
    'subject organization is not system:nodes',
  ],
  [
    'SANs and CN wrong: the SANs are named first',
    { asked: { subject: subject('a', ['system:nodes']), subjectAltName: sans([], []) } },
    'DNS or IP subjectAltName is required',
  ],
]

const client: Row[] = [
  ...shared,
  ['a DNS name', { asked: { subjectAltName: sans(['a'], []) } }, 'DNS subjectAltNames are not allowed'],
  [
    'an IP address',
    { asked: { subjectAltName: sans([], ['10.0.0.1']) } },
    'IP subjectAltNames are not allowed',
  ],
  ['C-31: an empty node name', { asked: { subject: subject('system:node:', ['system:nodes']) } }, undefined],
  [
    'key encipherment as well',
    { spec: { usages: ['key encipherment', 'client auth', 'digital signature'] } },
    undefined,
  ],
  [
    'server auth',
    { spec: { usages: ['digital signature', 'server auth'] } },
    'usages did not match [client auth digital signature key encipherment]',
  ],
]

for (const [facts, cases] of [
  [servingFacts, serving],
  [clientFacts, client],
] as const)
  for (const [what, changes, refusal] of cases) {
    const { csr, request } = facts(changes)
    test(`${csr.spec.signerName}, ${what}: ${refusal ?? 'signed'}`, () =>
      assert.equal(profileOf(csr.spec.signerName)?.refusal(request, csr.spec.usages), refusal))
  }

test('C-32: kube-apiserver-client takes any subject and SAN, but client auth is a must and little else may be asked', () => {
  const { request } = servingFacts()
  const refusal = (usages: string[]) => profileOf(signerNames.apiserverClient)?.refusal(request, usages)
  assert.equal(refusal(['client auth']), undefined)
  assert.equal(refusal(['digital signature', 'key encipherment', 'client auth']), undefined)
  assert.equal(refusal(['client auth', 'server auth']), 'invalid usage for client certificate: server auth')
  assert.equal(refusal(['digital signature']), 'missing required usage for client certificate: client auth')
})

test('C-20: there are four signers', () => {
  for (const name of Object.values(signerNames)) assert.equal(profileOf(name)?.signerName, name)
  assert.equal(profileOf('example.com/signer'), undefined)
})
