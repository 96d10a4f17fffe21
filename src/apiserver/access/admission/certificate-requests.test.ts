import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../../../keys/private-key.ts'
import type { CertificateSigningRequest, CsrCondition } from '../../../kube/types.ts'
import { seededRandom } from '../../../testing/seeded-random.ts'
import { signedRequest } from '../../../testing/signed-request.ts'
import { accessOver, person, refusal } from '../testing/access-over.ts'
import { admissionRequest } from '../testing/admission-request.ts'
import { bindingOf, clusterRoleOf, userSubject } from '../testing/rbac-objects.ts'

const csrs = 'certificatesigningrequests'
const text = 'certificatesigningrequests.certificates.k8s.io "csr-1" is forbidden'
const approver = person('approver')

function csr(signerName: string, status: CertificateSigningRequest['status'] = {}, request = '') {
  const object: CertificateSigningRequest = {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr-1' },
    spec: { request, signerName, usages: ['client auth'] },
    status,
  }
  return object
}

/** An Access in which the approver holds the verb for signers of this name. */
function holding(verb: string, name: string) {
  return accessOver([
    clusterRoleOf('r', [
      { verbs: [verb], apiGroups: ['certificates.k8s.io'], resources: ['signers'], resourceNames: [name] },
    ]),
    bindingOf('b', 'ClusterRole/r', [userSubject('approver')]),
  ])
}

const approved: CsrCondition = { type: 'Approved', status: 'True' }

const rights: [verb: string, name: string, signerName: string, allowed: boolean][] = [
  ['approve', 'example.com/a', 'example.com/a', true],
  ['approve', 'example.com/*', 'example.com/a', true],
  ['approve', 'example.com/*', 'example.com/a/b', true],
  ['approve', 'example.com/b', 'example.com/a', false],
  ['approve', 'other.com/*', 'example.com/a', false],
  ['approve', '*', 'example.com/a', false],
  ['sign', 'example.com/a', 'example.com/a', false],
]
for (const [verb, name, signerName, allowed] of rights) {
  test(`A-50: the right to ${verb} ${name} ${allowed ? 'lets' : 'does not let'} a user approve for ${signerName}`, () => {
    const request = admissionRequest('UPDATE', csrs, {
      user: approver,
      subresource: 'approval',
      object: csr(signerName, { conditions: [approved] }),
      oldObject: csr(signerName),
    })
    assert.equal(
      refusal(() => holding(verb, name).admit(request)),
      allowed ? '' : `${text}: user not permitted to approve requests with signerName "${signerName}"`,
    )
  })
}

test('A-50: the signerName of the stored object counts, not that of the update', () => {
  const request = admissionRequest('UPDATE', csrs, {
    user: approver,
    subresource: 'approval',
    object: csr('example.com/mine'),
    oldObject: csr('example.com/theirs'),
  })
  assert.match(
    refusal(() => holding('approve', 'example.com/mine').admit(request)),
    /"example.com\/theirs"$/,
  )
})

test('A-50: an approval that changes nothing needs the right too', () => {
  const object = csr('example.com/a')
  const request = admissionRequest('UPDATE', csrs, {
    user: approver,
    subresource: 'approval',
    object,
    oldObject: object,
  })
  assert.match(
    refusal(() => accessOver([]).admit(request)),
    /not permitted to approve/,
  )
})

const statuses: [what: string, next: CertificateSigningRequest['status'], needsSign: boolean][] = [
  ['sets the certificate', { certificate: 'Y2VydA==' }, true],
  ['marks it Failed', { conditions: [{ type: 'Failed', status: 'True' }] }, true],
  ['changes nothing', {}, false],
  ['writes an empty list of conditions', { conditions: [] }, false],
]
for (const [what, next, needsSign] of statuses) {
  test(`A-51: a status that ${what} ${needsSign ? 'needs' : 'does not need'} the right to sign`, () => {
    const request = admissionRequest('UPDATE', csrs, {
      user: approver,
      subresource: 'status',
      object: csr('example.com/a', next),
      oldObject: csr('example.com/a'),
    })
    assert.equal(
      refusal(() => holding('approve', 'example.com/a').admit(request)),
      needsSign ? `${text}: user not permitted to sign requests with signerName "example.com/a"` : '',
    )
    assert.equal(
      refusal(() => holding('sign', 'example.com/*').admit(request)),
      '',
    )
  })
}

const client = 'kubernetes.io/kube-apiserver-client'
const signer = generateSigner('Ed25519', seededRandom(4))
const requestFor = async (...organizations: string[]) =>
  Buffer.from(await signedRequest({ signer, commonName: 'u', organizations })).toString('base64')

const subjects: [what: string, signerName: string, request: string, message: string][] = [
  [
    'An API client certificate for system:masters',
    client,
    await requestFor('a', 'system:masters'),
    `${text}: use of ${client} signer with system:masters group is not allowed`,
  ],
  ['An API client certificate for another group', client, await requestFor('System:Masters'), ''],
  ['Another signer with system:masters', 'example.com/a', await requestFor('system:masters'), ''],
  [
    'An API client request that is no PEM',
    client,
    '',
    `${text}: failed to parse CSR: PEM block type must be CERTIFICATE REQUEST`,
  ],
]
for (const [what, signerName, request, message] of subjects) {
  test(`A-52: ${what} is ${message ? 'refused' : 'admitted'}`, () => {
    const object = csr(signerName, {}, request)
    assert.equal(
      refusal(() => accessOver([]).admit(admissionRequest('CREATE', csrs, { user: approver, object }))),
      message,
    )
  })
}
