import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateSigner } from '../../../keys/private-key.ts'
import type { CertificateSigningRequest, KubeObject } from '../../../kube/types.ts'
import { seededRandom } from '../../../testing/seeded-random.ts'
import { signedRequest } from '../../../testing/signed-request.ts'
import type { AdmissionRequest } from '../access.ts'
import { accessOver, nodeUser, person, refusal } from '../testing/access-over.ts'
import { admissionRequest } from '../testing/admission-request.ts'

const node = nodeUser('a')
const signer = generateSigner('Ed25519', seededRandom(3))

function object(kind: string, name: string, more: Record<string, unknown> = {}, metadata = {}): KubeObject {
  return { apiVersion: 'v1', kind, metadata: { name, ...metadata }, ...more }
}

const nodeObject = (more = {}, metadata = {}) => object('Node', 'a', more, metadata)
const lease = (name: string, namespace = 'kube-node-lease') => object('Lease', name, {}, { namespace })

async function csr(commonName: string, signerName: string): Promise<CertificateSigningRequest> {
  const pem = await signedRequest({ signer, commonName })
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr-1' },
    spec: { request: Buffer.from(pem).toString('base64'), signerName, usages: ['client auth'] },
  }
}

const serving = 'kubernetes.io/kubelet-serving'
const client = 'kubernetes.io/kube-apiserver-client-kubelet'
const csrs = 'certificatesigningrequests'

const slice = (nodeName: string) => object('ResourceSlice', 's', { spec: { nodeName } })
const configSource = (name: string) => ({ spec: { configSource: { configMap: { name } } } })
const taints = (value: unknown) => ({ spec: { taints: value } })
const uid = { uid: 'u1' }
const owner = { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u1', controller: true }
type Write = Partial<AdmissionRequest>
type Operation = AdmissionRequest['operation']

const admitted: [what: string, operation: Operation, resource: string, write: Write][] = [
  ['the end of its own slice', 'DELETE', 'resourceslices', { oldObject: slice('a') }],
  [
    'a configSource that was there',
    'UPDATE',
    'nodes',
    { object: nodeObject(configSource('x')), oldObject: nodeObject(configSource('x')) },
  ],
  [
    'the loss of its configSource, as by an old kubelet',
    'UPDATE',
    'nodes',
    { object: nodeObject(), oldObject: nodeObject(configSource('x')) },
  ],
  [
    'its own Node',
    'CREATE',
    'nodes',
    { object: nodeObject({}, { labels: { 'kubernetes.io/os': 'linux' } }) },
  ],
  ['its own Node with taints', 'CREATE', 'nodes', { name: '', object: nodeObject(taints([{ key: 'x' }])) }],
  ['the same Node again', 'UPDATE', 'nodes', { object: nodeObject(taints([])), oldObject: nodeObject() }],
  [
    'its own status with other addresses',
    'UPDATE',
    'nodes',
    {
      subresource: 'status',
      object: nodeObject({ status: { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] } }),
      oldObject: nodeObject(),
    },
  ],
  ['the end of its own Node', 'DELETE', 'nodes', { name: 'a' }],
  ['its own Lease', 'CREATE', 'leases', { name: '', object: lease('a') }],
  ['a renewal of its Lease', 'UPDATE', 'leases', { object: lease('a'), oldObject: lease('a') }],
  ['its own CSINode', 'CREATE', 'csinodes', { object: object('CSINode', 'a') }],
  ['a serving request for itself', 'CREATE', csrs, { object: await csr('system:node:a', serving) }],
  ['a client request for itself', 'CREATE', csrs, { object: await csr('system:node:a', client) }],
  ['a request to another signer', 'CREATE', csrs, { object: await csr('anything', 'example.com/x') }],
  ['an Event', 'CREATE', 'events', { object: object('Event', 'e') }],
  ['its own slice', 'CREATE', 'resourceslices', { object: slice('a') }],
]
for (const [what, operation, resource, write] of admitted) {
  test(`A-53: a node's ${operation} of ${what} is admitted`, () => {
    const access = accessOver([nodeObject({}, uid)])
    assert.equal(
      refusal(() => access.admit(admissionRequest(operation, resource, { user: node, ...write }))),
      '',
    )
  })
}

const csrText = 'certificatesigningrequests.certificates.k8s.io "csr-1" is forbidden'
const leaseText = 'can only access node lease with the same name as the requesting node'
const badCsr = { ...(await csr('system:node:a', serving)) }
badCsr.spec = { ...badCsr.spec, request: Buffer.from('nonsense').toString('base64') }
const brokenCsr = {
  ...badCsr,
  spec: {
    ...badCsr.spec,
    request: Buffer.from(
      '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n',
    ).toString('base64'),
  },
}

const refused: [
  what: string,
  operation: Operation,
  resource: string,
  write: Write,
  message: string | RegExp,
][] = [
  [
    "a slice that becomes another node's",
    'UPDATE',
    'resourceslices',
    { object: slice('b'), oldObject: slice('a') },
    /can only update ResourceSlice with the same NodeName as the requesting node/,
  ],
  [
    "the end of another node's slice",
    'DELETE',
    'resourceslices',
    { oldObject: slice('b') },
    /can only delete ResourceSlice with the same NodeName as the requesting node/,
  ],
  [
    'another configSource',
    'UPDATE',
    'nodes',
    { object: nodeObject(configSource('y')), oldObject: nodeObject(configSource('x')) },
    'nodes "a" is forbidden: node "a" is not allowed to update configSource to a new non-nil configSource',
  ],
  [
    "another node's Node",
    'CREATE',
    'nodes',
    { object: object('Node', 'b') },
    'nodes "b" is forbidden: node "a" is not allowed to modify node "b"',
  ],
  [
    "another node's status",
    'UPDATE',
    'nodes',
    { subresource: 'status', object: object('Node', 'b'), oldObject: object('Node', 'b') },
    'nodes "b" is forbidden: node "a" is not allowed to modify node "b"',
  ],
  [
    'the end of another Node',
    'DELETE',
    'nodes',
    { name: 'b' },
    'nodes "b" is forbidden: node "a" is not allowed to modify node "b"',
  ],
  [
    'a Node with guarded labels',
    'CREATE',
    'nodes',
    { object: nodeObject({}, { labels: { 'node-role.kubernetes.io/control-plane': '', 'k8s.io/a': '' } }) },
    'nodes "a" is forbidden: node "a" is not allowed to set the following labels: k8s.io/a, node-role.kubernetes.io/control-plane',
  ],
  [
    'a guarded label taken off',
    'UPDATE',
    'nodes',
    {
      object: nodeObject(),
      oldObject: nodeObject({}, { labels: { 'node-restriction.kubernetes.io/x': '' } }),
    },
    'nodes "a" is forbidden: is not allowed to modify labels: node-restriction.kubernetes.io/x',
  ],
  [
    'a taint taken off',
    'UPDATE',
    'nodes',
    { object: nodeObject(), oldObject: nodeObject(taints([{ key: 'x', effect: 'NoSchedule' }])) },
    'nodes "a" is forbidden: node "a" is not allowed to modify taints',
  ],
  [
    'a taint changed through status',
    'UPDATE',
    'nodes',
    {
      subresource: 'status',
      object: nodeObject(taints([{ key: 'x', effect: 'NoExecute' }])),
      oldObject: nodeObject(taints([{ key: 'x', effect: 'NoSchedule' }])),
    },
    'nodes "a" is forbidden: node "a" is not allowed to modify taints',
  ],
  [
    'an owner for its Node',
    'UPDATE',
    'nodes',
    { object: nodeObject({}, { ownerReferences: [owner] }), oldObject: nodeObject() },
    'nodes "a" is forbidden: node "a" is not allowed to modify ownerReferences',
  ],
  [
    'a configSource',
    'CREATE',
    'nodes',
    { object: nodeObject({ spec: { configSource: {} } }) },
    'nodes "a" is forbidden: node "a" is not allowed to create pods with a non-nil configSource',
  ],
  [
    "another node's Lease",
    'CREATE',
    'leases',
    { name: '', object: lease('b') },
    `leases.coordination.k8s.io "b" is forbidden: ${leaseText}`,
  ],
  [
    'a renewal of another Lease',
    'UPDATE',
    'leases',
    { object: lease('b'), oldObject: lease('b') },
    `leases.coordination.k8s.io "b" is forbidden: ${leaseText}`,
  ],
  [
    'a Lease of its name elsewhere',
    'CREATE',
    'leases',
    { object: lease('a', 'kube-system') },
    'leases.coordination.k8s.io "a" is forbidden: can only access leases in the "kube-node-lease" system namespace',
  ],
  [
    "another node's CSINode",
    'CREATE',
    'csinodes',
    { object: object('CSINode', 'b') },
    'csinodes.storage.k8s.io "b" is forbidden: can only access CSINode with the same name as the requesting node',
  ],
  [
    'a serving request for another node',
    'CREATE',
    csrs,
    { object: await csr('system:node:b', serving) },
    `${csrText}: can only create a node CSR with CN=system:node:a`,
  ],
  [
    'a client request for another node',
    'CREATE',
    csrs,
    { object: await csr('system:node:ab', client) },
    `${csrText}: can only create a node CSR with CN=system:node:a`,
  ],
  [
    'a request for its name in upper case',
    'CREATE',
    csrs,
    { object: await csr('system:node:A', client) },
    `${csrText}: can only create a node CSR with CN=system:node:a`,
  ],
  [
    'a request that is no PEM',
    'CREATE',
    csrs,
    { object: badCsr },
    `${csrText}: unable to parse csr: PEM block type must be CERTIFICATE REQUEST`,
  ],
  ['a request that is no PKCS#10', 'CREATE', csrs, { object: brokenCsr }, /unable to parse csr: /],
  [
    "another node's slice",
    'CREATE',
    'resourceslices',
    { object: slice('b') },
    /can only create ResourceSlice with the same NodeName as the requesting node/,
  ],
]
for (const [what, operation, resource, write, message] of refused) {
  test(`A-53: a node's ${operation} of ${what} is refused`, () => {
    const access = accessOver([nodeObject({}, uid)])
    const told = refusal(() => access.admit(admissionRequest(operation, resource, { user: node, ...write })))
    if (typeof message === 'string') assert.equal(told, message)
    else assert.match(told, message)
  })
}

test('A-53: a node without a name may write nothing', () => {
  const request = admissionRequest('CREATE', 'events', { user: nodeUser(''), object: object('Event', 'e') })
  assert.equal(
    refusal(() => accessOver([]).admit(request)),
    'events "e" is forbidden: could not determine node from user "system:node:"',
  )
})

const free = [
  [
    'a bootstrap token, which may ask for any node',
    person('system:bootstrap:abcdef', 'system:bootstrappers'),
  ],
  ['system:node:a without its group', person('system:node:a')],
] as const
for (const [who, user] of free) {
  test(`A-53: NodeRestriction does not concern ${who}`, async () => {
    const request = admissionRequest('CREATE', csrs, { user, object: await csr('system:node:b', client) })
    assert.equal(
      refusal(() => accessOver([]).admit(request)),
      '',
    )
  })
}
