/** Section 3.1 and 3.2: CertificateSigningRequests, their subresources and their table. */
import { absent, type Case, type Step } from '../case.ts'
import { badlySignedRequest, csr, csrs, kubeletClient, table } from './objects-of.ts'

const created = (name = '$(id)', spec: object = {}): Step => ({
  method: 'POST',
  url: csrs,
  body: csr(name, spec),
  expect: { status: 201 },
  keep: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' },
})

const condition = (type: string, more: object = {}) => ({ type, status: 'True', ...more })

const withConditions = (...conditions: object[]) => ({ ...csr('$(id)'), status: { conditions } })

/** Whoever made a request may be kept from approving it (deploy/admission/four-eyes.yaml). */
const put = (subresource: string, body: object, expect: Step['expect']): Step => ({
  as: { user: 'somebody-else', groups: ['system:masters'] },
  method: 'PUT',
  url: `${csrs}/$(id)/${subresource}`,
  body,
  expect,
})

const refused = (spec: object, message: RegExp): Step => ({
  method: 'POST',
  url: csrs,
  body: csr('$(id)', spec),
  expect: { status: 422, reason: 'Invalid', message },
})

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

export const certificateRequests: Case[] = [
  {
    title: 'A-1: requests are served in v1 with /status and /approval; v1beta1 is 404',
    steps: [
      {
        method: 'GET',
        url: '/apis/certificates.k8s.io/v1',
        expect: { status: 200, body: { kind: 'APIResourceList', groupVersion: 'certificates.k8s.io/v1' } },
      },
      created(),
      {
        method: 'GET',
        url: `${csrs}/$(id)/approval`,
        expect: { status: 200, body: { kind: 'CertificateSigningRequest' } },
      },
      {
        method: 'GET',
        url: `${csrs}/$(id)/status`,
        expect: { status: 200, body: { kind: 'CertificateSigningRequest' } },
      },
      {
        method: 'GET',
        url: '/apis/certificates.k8s.io/v1beta1/certificatesigningrequests',
        expect: { status: 404 },
      },
    ],
  },
  {
    title: 'A-2: the requestor is who asked, whatever the body says',
    steps: [
      {
        as: { user: 'jane', groups: ['devs'], extra: { 'example.com/scope': 'x' } },
        method: 'POST',
        url: csrs,
        body: csr('$(id)'),
        expect: { status: 403, reason: 'Forbidden' },
      },
      {
        as: { user: 'jane', groups: ['system:masters'], uid: 'u-1', extra: { 'example.com/scope': 'x' } },
        method: 'POST',
        url: csrs,
        body: {
          ...csr('$(id)', { username: 'mallory', uid: 'u-2', groups: ['x'], extra: { a: ['b'] } }),
          status: { conditions: [condition('Approved')] },
        },
        expect: {
          status: 201,
          body: {
            spec: {
              username: 'jane',
              uid: 'u-1',
              groups: ['system:masters', 'system:authenticated'],
              extra: { 'example.com/scope': ['x'] },
            },
            status: { conditions: absent, certificate: absent },
          },
        },
      },
    ],
  },
  {
    title: 'A-2: a client certificate leaves its credential-id in spec.extra',
    steps: [
      {
        ...created(),
        expect: {
          status: 201,
          body: {
            spec: { extra: { 'authentication.kubernetes.io/credential-id': [/^X509SHA256=[0-9a-f]{64}$/] } },
          },
        },
      },
    ],
  },
  {
    title: 'A-3: a name is any path segment without "%"',
    steps: [
      { ...created('Any_Thing:$(id)'), expect: { status: 201 } },
      {
        method: 'POST',
        url: csrs,
        body: csr('a%$(id)'),
        expect: {
          status: 422,
          reason: 'Invalid',
          message: /metadata\.name: Invalid value: .*: may not contain '%'/,
        },
      },
    ],
  },
  {
    title: 'A-4: a PUT of the main resource changes metadata alone, with or without a resourceVersion',
    steps: [
      created(),
      {
        method: 'PUT',
        url: `${csrs}/$(id)`,
        body: csr('$(id)', { signerName: 'example.com/other' }, { labels: { colour: 'red' } }),
        expect: {
          status: 200,
          body: {
            metadata: { labels: { colour: 'red' }, uid: '$(uid)' },
            spec: { signerName: kubeletClient },
          },
        },
      },
      {
        method: 'PUT',
        url: `${csrs}/$(id)`,
        body: csr('$(id)', {}, { resourceVersion: '$(rv)' }),
        expect: {
          status: 409,
          reason: 'Conflict',
          message:
            'Operation cannot be fulfilled on certificatesigningrequests.certificates.k8s.io "$(id)": the object has been modified; please apply your changes to the latest version and try again',
        },
      },
      {
        method: 'PUT',
        url: `${csrs}/absent-$(id)`,
        body: csr('absent-$(id)'),
        expect: { status: 404, reason: 'NotFound' },
      },
    ],
  },
  {
    title: 'A-5: what a request, its usages, signer name and lifetime must be',
    steps: [
      refused(
        { request: Buffer.from('nonsense').toString('base64') },
        /spec\.request: Invalid value: .*PEM block type must be CERTIFICATE REQUEST/,
      ),
      refused({ request: badlySignedRequest }, /spec\.request: Invalid value: /),
      refused({ usages: [] }, /spec\.usages: Required value/),
      refused({ usages: ['flying'] }, /spec\.usages\[0\]: Unsupported value: "flying"/),
      refused(
        { usages: ['client auth', 'client auth'] },
        /spec\.usages\[1\]: Duplicate value: "client auth"/,
      ),
      refused(
        { signerName: 'kubernetes.io/legacy-unknown' },
        /the legacy signerName is not allowed via this API version/,
      ),
      refused(
        { signerName: 'no-slash' },
        /must be a fully qualified domain and path of the form 'example\.com\/signer-name'/,
      ),
      refused({ signerName: 'short/x' }, /should be a domain with at least two segments separated by dots/),
      refused(
        { expirationSeconds: 599 },
        /spec\.expirationSeconds: Invalid value: 599: may not specify a duration less than 600 seconds \(10 minutes\)/,
      ),
      created('$(id)', { expirationSeconds: 600 }),
    ],
  },
  {
    title:
      'A-6: /approval takes conditions alone, stamps them (A-8), and takes none of Approved, Denied, Failed away',
    steps: [
      created(),
      put('approval', withConditions(condition('Approved', { reason: 'Test', message: 'm' })), {
        status: 200,
        body: {
          status: {
            conditions: [
              {
                type: 'Approved',
                status: 'True',
                reason: 'Test',
                message: 'm',
                lastUpdateTime: time,
                lastTransitionTime: time,
              },
            ],
          },
        },
      }),
      put('approval', withConditions(), {
        status: 422,
        reason: 'Invalid',
        message: /updates may not remove a condition of type "Approved"/,
      }),
      put('approval', withConditions(condition('Approved'), condition('Denied')), {
        status: 422,
        reason: 'Invalid',
        message: /Approved and Denied conditions are mutually exclusive/,
      }),
      put('approval', withConditions(condition('Approved'), condition('Mine')), {
        status: 200,
        body: { status: { conditions: [{ type: 'Approved' }, { type: 'Mine' }] } },
      }),
      put('approval', withConditions(condition('Approved', { reason: 'Edited' })), {
        status: 200,
        body: { status: { conditions: [{ type: 'Approved', reason: 'Edited' }] } },
      }),
      put('approval', withConditions({ type: 'Approved', status: 'False' }), {
        status: 422,
        reason: 'Invalid',
        message: /status\.conditions\[0\]\.status: Unsupported value: "False": supported values: "True"/,
      }),
    ],
  },
  {
    title: 'A-7: /status approves nothing, may mark Failed, and takes no nonsense for a certificate',
    steps: [
      created(),
      put('status', withConditions(condition('Approved')), {
        status: 422,
        reason: 'Invalid',
        message: /updates may not add a condition of type "Approved"/,
      }),
      put(
        'status',
        { ...csr('$(id)'), status: { certificate: Buffer.from('x').toString('base64') } },
        {
          status: 422,
          reason: 'Invalid',
          message: /must contain at least one CERTIFICATE PEM block/,
        },
      ),
      put('status', withConditions(condition('Failed', { reason: 'X' })), {
        status: 200,
        body: { status: { conditions: [{ type: 'Failed', lastUpdateTime: time }] } },
      }),
    ],
  },
  {
    title: 'A-10: requests are selected by metadata.name and spec.signerName alone',
    steps: [
      created(),
      {
        method: 'GET',
        url: `${csrs}?fieldSelector=metadata.name%3D$(id),spec.signerName%3D${encodeURIComponent(kubeletClient)}`,
        expect: {
          status: 200,
          body: { kind: 'CertificateSigningRequestList', items: [{ metadata: { name: '$(id)' } }] },
        },
      },
      {
        method: 'GET',
        url: `${csrs}?fieldSelector=spec.username%3Djane`,
        expect: { status: 400, reason: 'BadRequest', message: /field label not supported: spec\.username/ },
      },
    ],
  },
  {
    title: 'A-20, A-21: the table that kubectl prints',
    steps: [
      created('$(id)', { expirationSeconds: 3600 }),
      {
        method: 'GET',
        url: `${csrs}/$(id)`,
        headers: table,
        expect: {
          status: 200,
          body: {
            kind: 'Table',
            columnDefinitions: [
              { name: 'Name', format: 'name', priority: 0 },
              { name: 'Age', priority: 0 },
              { name: 'SignerName', priority: 0 },
              { name: 'Requestor', priority: 0 },
              { name: 'RequestedDuration', priority: 0 },
              { name: 'Condition', priority: 0 },
            ],
            rows: [{ cells: ['$(id)', /^\d+s$/, kubeletClient, /./, '60m', 'Pending'] }],
          },
        },
      },
      put('approval', withConditions(condition('Denied')), { status: 200 }),
      put('status', withConditions(condition('Denied'), condition('Failed')), { status: 200 }),
      {
        method: 'GET',
        url: `${csrs}/$(id)`,
        headers: table,
        expect: {
          status: 200,
          body: { rows: [{ cells: ['$(id)', /./, kubeletClient, /./, '60m', 'Denied,Failed'] }] },
        },
      },
    ],
  },
]
