import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../../kube/types.ts'
import type { AdmissionRequest } from '../access.ts'
import { accessOver, nodeUser, refusal } from '../testing/access-over.ts'
import { admissionRequest } from '../testing/admission-request.ts'

const node = nodeUser('a')
const nodeObject: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', uid: 'u1' } }
const owner = { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u1', controller: true }

/** Mirror of a static pod on node a, as a kubelet makes it. */
const pod = (spec: object = {}, metadata: object = {}): KubeObject & { spec: object } => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'ns',
    annotations: { 'kubernetes.io/config.mirror': 'x' },
    ownerReferences: [owner],
    ...metadata,
  },
  spec: { nodeName: 'a', ...spec },
})

type Write = Partial<AdmissionRequest>
type Operation = AdmissionRequest['operation']

const admitted: [what: string, operation: Operation, resource: string, write: Write][] = [
  ['the eviction of its pod', 'CREATE', 'pods', { subresource: 'eviction', name: 'p', oldObject: pod() }],
  ['its mirror pod', 'CREATE', 'pods', { object: pod() }],
  ['the end of its pod', 'DELETE', 'pods', { oldObject: pod() }],
  ['the status of its pod', 'UPDATE', 'pods', { subresource: 'status', object: pod(), oldObject: pod() }],
]
for (const [what, operation, resource, write] of admitted) {
  test(`A-53: a node's ${operation} of ${what} is admitted`, () => {
    const request = admissionRequest(operation, resource, { user: node, ...write })
    assert.equal(
      refusal(() => accessOver([nodeObject]).admit(request)),
      '',
    )
  })
}

const podText = 'pods "p" is forbidden: node "a"'
const refused: [what: string, operation: Operation, resource: string, write: Write, message: string][] = [
  [
    "the eviction of another node's pod",
    'CREATE',
    'pods',
    { subresource: 'eviction', name: 'p', oldObject: pod({ nodeName: 'b' }) },
    `${podText} can only evict pods with spec.nodeName set to itself`,
  ],
  [
    'an exec into its pod',
    'CREATE',
    'pods',
    { subresource: 'exec', name: 'p' },
    `pods "p" is forbidden: unexpected pod subresource "exec", only 'status' and 'eviction' are allowed`,
  ],
  [
    'a pod that is no mirror',
    'CREATE',
    'pods',
    { object: pod({}, { annotations: {} }) },
    'pods "p" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "a" can only create mirror pods',
  ],
  [
    'a pod of another node',
    'CREATE',
    'pods',
    { object: pod({ nodeName: 'b' }) },
    `${podText} can only create pods with spec.nodeName set to itself`,
  ],
  [
    'a pod without owner',
    'CREATE',
    'pods',
    { object: pod({}, { ownerReferences: [] }) },
    `${podText} can only create pods with an owner reference set to itself`,
  ],
  [
    'a pod of two owners',
    'CREATE',
    'pods',
    { object: pod({}, { ownerReferences: [owner, owner] }) },
    `${podText} can only create pods with a single owner reference set to itself`,
  ],
  [
    'a pod that another owns',
    'CREATE',
    'pods',
    { object: pod({}, { ownerReferences: [{ ...owner, name: 'b' }] }) },
    `${podText} can only create pods with an owner reference set to itself`,
  ],
  [
    'a pod without controller',
    'CREATE',
    'pods',
    { object: pod({}, { ownerReferences: [{ ...owner, controller: false }] }) },
    `${podText} can only create pods with a controller owner reference set to itself`,
  ],
  [
    'a pod that blocks deletion',
    'CREATE',
    'pods',
    { object: pod({}, { ownerReferences: [{ ...owner, blockOwnerDeletion: true }] }) },
    `${podText} must not set blockOwnerDeletion on an owner reference`,
  ],
  [
    'a pod of a former Node',
    'CREATE',
    'pods',
    { object: pod({}, { ownerReferences: [{ ...owner, uid: 'u0' }] }) },
    'pods "p" is forbidden: node a UID mismatch: expected u0 got u1',
  ],
  [
    'a pod with a service account',
    'CREATE',
    'pods',
    { object: pod({ serviceAccountName: 'default' }) },
    `${podText} can not create pods that reference a service account`,
  ],
  [
    'a pod that mounts a Secret',
    'CREATE',
    'pods',
    { object: pod({ volumes: [{ projected: { sources: [{ secret: { name: 's' } }] } }] }) },
    `${podText} can not create pods that reference secrets`,
  ],
  [
    'a pod with a ConfigMap in its environment',
    'CREATE',
    'pods',
    { object: pod({ containers: [{ env: [{ valueFrom: { configMapKeyRef: {} } }] }] }) },
    `${podText} can not create pods that reference configmaps`,
  ],
  [
    'a pod with a claim',
    'CREATE',
    'pods',
    { object: pod({ volumes: [{ persistentVolumeClaim: { claimName: 'c' } }] }) },
    `${podText} can not create pods that reference persistentvolumeclaims`,
  ],
  [
    'a changed pod',
    'UPDATE',
    'pods',
    { object: pod(), oldObject: pod() },
    'pods "p" is forbidden: unexpected operation "UPDATE", node "a" can only create and delete mirror pods',
  ],
  [
    "the end of another node's pod",
    'DELETE',
    'pods',
    { oldObject: pod({ nodeName: 'b' }) },
    `${podText} can only delete pods with spec.nodeName set to itself`,
  ],
  [
    "another node's pod status",
    'UPDATE',
    'pods',
    { subresource: 'status', object: pod(), oldObject: pod({ nodeName: 'b' }) },
    `${podText} can only update pod status for pods with spec.nodeName set to itself`,
  ],
]
for (const [what, operation, resource, write, message] of refused) {
  test(`A-53: a node's ${operation} of ${what} is refused`, () => {
    const request = admissionRequest(operation, resource, { user: node, ...write })
    assert.equal(
      refusal(() => accessOver([nodeObject]).admit(request)),
      message,
    )
  })
}

test('A mirror pod before its Node is 404', () => {
  const request = admissionRequest('CREATE', 'pods', { user: node, object: pod() })
  assert.equal(
    refusal(() => accessOver([]).admit(request), 404),
    'nodes "a" not found',
  )
})
