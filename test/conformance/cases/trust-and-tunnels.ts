/** T-rules of section 4, and H-rules of section 5 that need no kubelet. */
import type { Case, Step } from '../case.ts'
import { node, nodes, pod, pods } from './objects-of.ts'

const bundles = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles'

const refused = (name: string, spec: object, message: RegExp): Step => ({
  method: 'POST',
  url: bundles,
  body: { apiVersion: 'certificates.k8s.io/v1beta1', kind: 'ClusterTrustBundle', metadata: { name }, spec },
  expect: { status: 422, reason: 'Invalid', message },
})

export const trustAndTunnels: Case[] = [
  {
    title: 'T-1: what a ClusterTrustBundle and its name must be',
    steps: [
      refused('$(id)', { trustBundle: '' }, /spec\.trustBundle/),
      refused(
        '$(id)',
        { trustBundle: '-----BEGIN NONSENSE-----\nAA==\n-----END NONSENSE-----\n' },
        /spec\.trustBundle/,
      ),
      refused('$(id)', { signerName: 'example.com/signer', trustBundle: 'x' }, /metadata\.name/),
      refused('a:b', { trustBundle: 'x' }, /metadata\.name/),
      {
        method: 'GET',
        url: `${bundles}?fieldSelector=spec.signerName%3Dexample.com/none`,
        expect: { status: 200, body: { items: [] } },
      },
    ],
  },
  {
    title: 'T-3: PodCertificateRequests are behind a gate that is off',
    steps: [
      {
        method: 'GET',
        url: '/apis/certificates.k8s.io/v1beta1/podcertificaterequests',
        expect: { status: 404 },
      },
    ],
  },
  {
    title: 'H-4: a pod without a node has no log yet, and nobody to run a command',
    steps: [
      { method: 'POST', url: pods, body: pod('p'), expect: { status: 201 } },
      { method: 'GET', url: `${pods}/p/log`, expect: { status: 200, body: '' } },
      {
        method: 'POST',
        url: `${pods}/p/exec?command=true&stdout=true`,
        expect: { status: 400, reason: 'BadRequest', message: 'pod p does not have a host assigned' },
      },
      {
        method: 'GET',
        url: `${pods}/p/log?container=other`,
        expect: { status: 400, reason: 'BadRequest', message: 'container other is not valid for pod p' },
      },
      {
        method: 'GET',
        url: `${pods}/missing/log`,
        expect: { status: 404, reason: 'NotFound', message: 'pods "missing" not found' },
      },
    ],
  },
  {
    title: 'H-4: pods without an address and services without endpoints are not proxied to',
    steps: [
      { method: 'POST', url: pods, body: pod('p'), expect: { status: 201 } },
      {
        method: 'GET',
        url: `${pods}/p/proxy/`,
        expect: { status: 400, reason: 'BadRequest', message: 'address not allowed' },
      },
      {
        method: 'GET',
        url: `${pods}/a:b:c:d/proxy/`,
        expect: { status: 400, reason: 'BadRequest', message: 'invalid pod request "a:b:c:d"' },
      },
      { method: 'GET', url: `${pods}/missing/proxy/x`, expect: { status: 404, reason: 'NotFound' } },
      {
        method: 'GET',
        url: '/api/v1/namespaces/$(ns)/services/missing/proxy/',
        expect: { status: 404, reason: 'NotFound', message: 'services "missing" not found' },
      },
      {
        as: { user: 'jane' },
        method: 'GET',
        url: `${pods}/p/proxy/`,
        expect: { status: 403, reason: 'Forbidden', message: /cannot get resource "pods\/proxy"/ },
      },
    ],
  },
  {
    title: 'H-4: a node that says no address cannot be reached',
    steps: [
      { method: 'POST', url: nodes, body: node('$(id)'), expect: { status: 201 } },
      {
        method: 'GET',
        url: `${nodes}/$(id)/proxy/healthz`,
        expect: { status: 500, message: 'no preferred addresses found; known addresses: []' },
      },
      {
        method: 'GET',
        url: `${nodes}/missing-$(id)/proxy/healthz`,
        expect: { status: 404, reason: 'NotFound' },
      },
      { method: 'DELETE', url: `${nodes}/$(id)`, expect: { status: 200 } },
    ],
  },
]
