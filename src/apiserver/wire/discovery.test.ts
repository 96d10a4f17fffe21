import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allResources } from '../resources/index.ts'
import { discovery } from './discovery.ts'
import { isCurrent, type ServedDocument } from './document.ts'

const documents = discovery(allResources)

interface Named {
  name: string
}
/** What the tests look at, of whichever kind the document is. */
interface Discovered {
  kind: string
  apiVersion: string
  items: { metadata: Named; versions: { version: string; resources: { resource: string }[] }[] }[]
  versions: string[]
  groups: Named[]
  resources: (Named & { verbs: string[] })[]
  preferredVersion: { groupVersion: string }
}
const read = (document: ServedDocument | undefined): Discovered =>
  JSON.parse(Buffer.from(document?.body ?? []).toString())

test('A-1: aggregated discovery describes a CertificateSigningRequest as kube-apiserver does', () => {
  const document = documents('/apis', 'v2')
  assert.equal(document?.contentType, 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList')
  const { apiVersion, items } = read(document)
  assert.equal(apiVersion, 'apidiscovery.k8s.io/v2')
  const group = items.find(({ metadata }) => metadata.name === 'certificates.k8s.io')
  const [v1, v1beta1] = group?.versions ?? []
  // requests are served in v1 only; v1beta1 is there for trust bundles (T-1).
  assert.deepEqual(
    v1beta1?.resources.map(({ resource }) => resource),
    ['clustertrustbundles'],
  )
  assert.deepEqual(
    [v1],
    [
      {
        version: 'v1',
        resources: [
          {
            resource: 'certificatesigningrequests',
            responseKind: { group: '', version: '', kind: 'CertificateSigningRequest' },
            scope: 'Cluster',
            singularResource: 'certificatesigningrequest',
            verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
            shortNames: ['csr'],
            subresources: ['approval', 'status'].map(subresource => ({
              subresource,
              responseKind: { group: '', version: '', kind: 'CertificateSigningRequest' },
              verbs: ['get', 'patch', 'update'],
            })),
          },
        ],
        freshness: 'Current',
      },
    ],
  )
  assert.equal(read(documents('/api', 'v2beta1')).items.length, 1)
})

test('the legacy lists name groups, versions and resources with their subresources', () => {
  assert.deepEqual(read(documents('/api', 'legacy')).versions, ['v1'])
  const groups = read(documents('/apis', 'legacy')).groups
  assert.ok(groups.some(({ name }) => name === 'rbac.authorization.k8s.io'))
  const list = read(documents('/apis/certificates.k8s.io/v1', 'legacy'))
  assert.deepEqual(
    list.resources.map(({ name }) => name),
    [
      'certificatesigningrequests',
      'certificatesigningrequests/approval',
      'certificatesigningrequests/status',
    ],
  )
  assert.equal(
    read(documents('/apis/coordination.k8s.io/', 'legacy')).preferredVersion.groupVersion,
    'coordination.k8s.io/v1',
  )
  assert.equal(read(documents('/api/v1', 'v2')).kind, 'APIResourceList')
})

test('reviews can only be created, and unknown groups are not there', () => {
  const list = read(documents('/apis/authentication.k8s.io/v1', 'legacy'))
  for (const resource of list.resources) assert.deepEqual(resource.verbs, ['create'])
  assert.equal(documents('/apis/certificates.k8s.io/v1alpha1', 'legacy'), undefined)
  assert.equal(documents('/apis/apps', 'legacy'), undefined)
})

test('a client that has the document is told so', () => {
  const document = documents('/api', 'v2')
  assert.ok(document && isCurrent(document, `"x", ${document.etag}`))
  assert.ok(document && !isCurrent(document, '"x"'))
  assert.ok(document && !isCurrent(document, undefined))
})
