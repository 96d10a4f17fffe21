import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdmissionRequest } from '../access.ts'
import { accessOver, person, refusal } from '../testing/access-over.ts'
import { admissionRequest } from '../testing/admission-request.ts'
import { bindingOf, clusterRoleOf, userSubject } from '../testing/rbac-objects.ts'

const publisher = person('publisher')

function bundle(signerName: string, trustBundle = 'PEM', finalizers?: string[]) {
  const metadata = { name: 'b', ...(finalizers && { finalizers }) }
  const spec = { ...(signerName && { signerName }), trustBundle }
  return { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'ClusterTrustBundle', metadata, spec }
}

/** The refusal for a publisher who may attest for signers of this name. */
function refused(
  attests: string,
  operation: AdmissionRequest['operation'],
  rest: Pick<Partial<AdmissionRequest>, 'object' | 'oldObject'>,
): string {
  const access = accessOver([
    clusterRoleOf('r', [
      {
        verbs: ['attest'],
        apiGroups: ['certificates.k8s.io'],
        resources: ['signers'],
        resourceNames: [attests],
      },
    ]),
    bindingOf('b', 'ClusterRole/r', [userSubject('publisher')]),
  ])
  const request = admissionRequest(operation, 'clustertrustbundles', { user: publisher, ...rest })
  return refusal(() => access.admit(request))
}

const own = bundle('example.com/a')
const foreign = bundle('other.example.com/a')
const text = 'clustertrustbundles.certificates.k8s.io "b" is forbidden'
const notPermitted = `${text}: user not permitted to attest for signerName "other.example.com/a"`

test('T-1: creating a bundle of a signer needs the verb attest for it, by name or for its domain', () => {
  for (const attests of ['example.com/a', 'example.com/*']) {
    assert.equal(refused(attests, 'CREATE', { object: own }), '')
    assert.equal(refused(attests, 'CREATE', { object: foreign }), notPermitted)
  }
})

test('T-1: a bundle without signer needs no attest', () => {
  assert.equal(refused('example.com/a', 'CREATE', { object: bundle('') }), '')
})

test('T-1: an update needs attest too, but not one of finalizers alone, and no deletion does', () => {
  const changed = bundle('other.example.com/a', 'MORE')
  assert.equal(refused('example.com/a', 'UPDATE', { object: changed, oldObject: foreign }), notPermitted)
  const collected = bundle('other.example.com/a', 'PEM', ['x.example.com/f'])
  assert.equal(refused('example.com/a', 'UPDATE', { object: foreign, oldObject: collected }), '')
  assert.equal(refused('example.com/a', 'DELETE', { oldObject: foreign }), '')
})

test('T-1: nobody moves a bundle to another signer', () => {
  assert.equal(
    refused('example.com/a', 'UPDATE', { object: own, oldObject: foreign }),
    `${text}: changing signerName is forbidden`,
  )
})
