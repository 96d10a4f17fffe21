import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeEvent, KubeNode, RoleBinding, Secret } from '../../kube/types.ts'
import { clusterRoleBindings } from './clusterrolebindings.ts'
import { configMaps } from './configmaps.ts'
import { events } from './events.ts'
import { allResources } from './index.ts'
import { leases } from './leases.ts'
import { namespaces } from './namespaces.ts'
import { nodes } from './nodes.ts'
import { pods } from './pods.ts'
import type { StoredResource, WriteContext } from './resource.ts'
import { roleBindings } from './rolebindings.ts'
import { roles } from './roles.ts'
import { secrets } from './secrets.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const context: WriteContext = { user: { username: 'u', groups: [] }, now, subresource: '' }
const head = (kind: string) => ({ apiVersion: 'v1', kind, metadata: { name: 'a' } })
const complaints = (errors: { field: string; text: string }[]) =>
  errors.map(({ field, text }) => `${field}: ${text}`)

test('every resource has its own path, and every stored one columns that begin or end with a name', () => {
  const paths = allResources.map(({ group, plural }) => `${group}/${plural}`)
  assert.equal(new Set(paths).size, paths.length)
  for (const resource of allResources) {
    if (resource.stored)
      assert.ok(
        resource.columns.some(({ name }) => name === 'Name'),
        resource.plural,
      )
  }
})

test('a namespace is active, labelled with its name, and its name is a label', () => {
  const namespace = head('Namespace')
  namespaces.prepareForCreate(namespace, context)
  assert.deepEqual(namespace, {
    ...head('Namespace'),
    metadata: { name: 'a', labels: { 'kubernetes.io/metadata.name': 'a' } },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  })
  assert.equal(namespaces.validateName('a.b').length, 1)
  assert.equal(namespaces.verbs.includes('deletecollection'), false)
})

test('the main path of a node keeps its status, /status keeps its spec', () => {
  const previous: KubeNode = { ...head('Node'), spec: { podCIDR: '10.0.0.0/24' }, status: { conditions: [] } }
  const next: KubeNode = { ...head('Node'), spec: { unschedulable: true }, status: {} }
  const viaStatus = structuredClone(next)
  nodes.prepareForUpdate(next, previous, context)
  assert.deepEqual([next.spec, next.status], [{ unschedulable: true }, { conditions: [] }])
  nodes.subresources.status?.prepareForUpdate(viaStatus, previous, context)
  assert.deepEqual(viaStatus.spec, { podCIDR: '10.0.0.0/24', podCIDRs: ['10.0.0.0/24'] })
})

test('a node may not change its pod CIDR or provider, nor have a taint or an address twice', () => {
  const previous: KubeNode = { ...head('Node'), spec: { podCIDRs: ['10.0.0.0/24'], providerID: 'p' } }
  const taint = { key: 'k', effect: 'NoSchedule' }
  const address = { type: 'InternalIP', address: '10.0.0.1' }
  const next = {
    ...head('Node'),
    spec: { taints: [taint, taint, { key: 'l', effect: 'Never' }] },
    status: { addresses: [address, address] },
  } as KubeNode
  assert.deepEqual(complaints(nodes.validateUpdate(next, previous)), [
    'metadata.taints[1]: Duplicate value: {"key":"k","effect":"NoSchedule"}',
    'metadata.taints[2].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    'status.addresses[1]: Duplicate value: {"type":"InternalIP","address":"10.0.0.1"}',
    'spec.podCIDRs: Forbidden: node updates may not change podCIDR except from "" to valid',
    'spec.providerID: Forbidden: node updates may not change providerID except from "" to valid',
  ])
})

test('stringData goes into data and is never kept', () => {
  const secret: Secret = { ...head('Secret'), data: { a: 'YQ==', b: 'Yg==' }, stringData: { b: 'B' } }
  secrets.prepareForCreate(secret, context)
  assert.deepEqual(secret, { ...head('Secret'), type: 'Opaque', data: { a: 'YQ==', b: 'Qg==' } })
})

test("a secret's type cannot change, and decides which keys it needs", () => {
  const secret = (type: string, data: Record<string, string> = {}) => ({ ...head('Secret'), type, data })
  assert.deepEqual(complaints(secrets.validateUpdate(secret('b'), secret('a'))), [
    'type: Invalid value: "b": field is immutable',
  ])
  assert.deepEqual(complaints(secrets.validate(secret('kubernetes.io/tls'))), [
    'data[tls.crt]: Required value',
    'data[tls.key]: Required value',
  ])
  assert.deepEqual(complaints(secrets.validate(secret('kubernetes.io/service-account-token'))), [
    'metadata.annotations[kubernetes.io/service-account.name]: Required value',
  ])
  assert.deepEqual(secrets.validate(secret('bootstrap.kubernetes.io/token')), [])
  const bad = secret('kubernetes.io/dockerconfigjson', { '.dockerconfigjson': 'c2VjcmV0' })
  assert.ok(!JSON.stringify(secrets.validate(bad)).includes('c2VjcmV0'))
})

test('what is immutable stays: the flag and the data', () => {
  const previous = { ...head('ConfigMap'), data: { a: '1' }, immutable: true }
  const text = 'Forbidden: field is immutable when `immutable` is set'
  assert.deepEqual(complaints(configMaps.validateUpdate({ ...head('ConfigMap'), data: {} }, previous)), [
    `immutable: ${text}`,
    `data: ${text}`,
  ])
  assert.deepEqual(configMaps.validateUpdate(structuredClone(previous), previous), [])
})

test('keys of a config map are checked, and so is its size', () => {
  const keys = complaints(configMaps.validate({ ...head('ConfigMap'), data: { 'a/b': '', '..x': '' } }))
  assert.match(keys[0] ?? '', /^data\[a\/b\]: Invalid value: "a\/b": a valid config key must consist of/)
  assert.equal(keys[1], `data[..x]: Invalid value: "..x": must not start with '..'`)
  assert.deepEqual(
    complaints(configMaps.validate({ ...head('ConfigMap'), data: { a: 'x'.repeat(1024 * 1024 + 1) } })),
    ['[]: Too long: may not be more than 1048576 bytes'],
  )
})

test('an event lives in the namespace of its object, or in default', () => {
  const event = (namespace: string, involved?: string): KubeEvent => ({
    ...head('Event'),
    metadata: { name: 'a', namespace },
    involvedObject: { kind: 'Node', name: 'n', ...(involved && { namespace: involved }) },
  })
  assert.deepEqual(events.validate(event('default')), [])
  assert.deepEqual(events.validate(event('x', 'x')), [])
  assert.deepEqual(complaints(events.validate(event('x'))), [
    'involvedObject.namespace: Invalid value: "": does not match event.namespace',
  ])
  assert.equal(events.timeToLiveSeconds, 3600)
})

test('the table of events shows when, what and which object', () => {
  const event: KubeEvent = {
    ...head('Event'),
    involvedObject: { kind: 'Node', name: 'worker-1' },
    type: 'Normal',
    reason: 'Starting',
    message: 'Starting kubelet.\n',
    lastTimestamp: '2025-12-31T23:59:00Z',
    firstTimestamp: '2025-12-31T23:58:00Z',
    source: { component: 'kubelet', host: 'worker-1' },
  }
  assert.deepEqual(
    events.columns.map(column => column.value(event, now)),
    [
      '60s',
      'Normal',
      'Starting',
      'node/worker-1',
      '',
      'kubelet, worker-1',
      'Starting kubelet.',
      '2m',
      1,
      'a',
    ],
  )
})

test('a lease lasts longer than nothing', () => {
  assert.deepEqual(
    complaints(
      leases.validate({ ...head('Lease'), spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }),
    ),
    [
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ],
  )
  assert.equal(leases.allowUnconditionalUpdate, false)
})

const binding = (fields: Partial<RoleBinding>): RoleBinding => ({
  ...head('RoleBinding'),
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' },
  ...fields,
})

test('a role binding gets its API groups, and keeps its role', () => {
  const object = binding({
    roleRef: { kind: 'ClusterRole', name: 'r' } as RoleBinding['roleRef'],
    subjects: [
      { kind: 'Group', name: 'g' },
      { kind: 'ServiceAccount', name: 's', namespace: 'n' },
    ],
  })
  roleBindings.prepareForCreate(object, context)
  assert.equal(object.roleRef.apiGroup, 'rbac.authorization.k8s.io')
  assert.deepEqual(object.subjects, [
    { kind: 'Group', name: 'g', apiGroup: 'rbac.authorization.k8s.io' },
    { kind: 'ServiceAccount', name: 's', namespace: 'n' },
  ])
  assert.deepEqual(roleBindings.validate(object), [])
  const other = binding({ roleRef: { ...object.roleRef, name: 'other' } })
  assert.match(
    complaints(roleBindings.validateUpdate(other, object))[0] ?? '',
    /^roleRef: Invalid value: .*: cannot change roleRef$/,
  )
  assert.deepEqual(roleBindings.validateUpdate(structuredClone(object), object), [])
})

test('subjects and role references that mean nothing are refused', () => {
  const object = binding({
    roleRef: { apiGroup: 'x', kind: 'Role', name: '' },
    subjects: [
      { kind: 'User', name: 'u' },
      { kind: 'Robot' as never, name: 'r' },
      { kind: 'ServiceAccount', name: 's' },
    ],
  })
  assert.deepEqual(complaints(clusterRoleBindings.validate(object)), [
    'roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"',
    'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
    'roleRef.name: Required value',
    'subjects[0].apiGroup: Unsupported value: "": supported values: "rbac.authorization.k8s.io"',
    'subjects[1].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
    'subjects[2].namespace: Required value',
  ])
})

test('rules need verbs, groups and resources, or paths where they are not namespaced', () => {
  assert.deepEqual(
    complaints(
      roles.validate({
        ...head('Role'),
        rules: [{ verbs: [] }, { verbs: ['get'], nonResourceURLs: ['/x'] }],
      }),
    ),
    [
      'rules[0].verbs: Required value: verbs must contain at least one value',
      'rules[0].apiGroups: Required value: resource rules must supply at least one api group',
      'rules[0].resources: Required value: resource rules must supply at least one resource',
      'rules[1].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs',
    ],
  )
})

test('fields can be selected on as in Kubernetes', () => {
  const fieldsOf = (resource: StoredResource) => (resource.selectableFields ?? []).map(({ path }) => path)
  const byPlural = Object.fromEntries(
    allResources.flatMap(resource =>
      resource.stored && resource.selectableFields ? [[resource.plural, fieldsOf(resource)]] : [],
    ),
  )
  assert.deepEqual(byPlural.nodes, ['spec.unschedulable'])
  assert.deepEqual(byPlural.secrets, ['type'])
  assert.deepEqual(byPlural.certificatesigningrequests, ['spec.signerName'])
  assert.ok(byPlural.events?.includes('involvedObject.name'))
})

test('a pod gets its defaults, keeps its spec but for images, and says what its containers do', () => {
  const pod = { ...head('Pod'), spec: { containers: [{ name: 'c', image: 'localhost/x:1' }], nodeName: 'n' } }
  pods.prepareForCreate(pod, context)
  const [container] = pod.spec.containers as Record<string, unknown>[]
  assert.equal(container?.imagePullPolicy, 'IfNotPresent')
  assert.deepEqual(pods.validate(pod), [])
  const image = structuredClone(pod)
  image.spec.containers = [{ ...container, name: 'c', image: 'y' }]
  assert.deepEqual(pods.validateUpdate(image, pod), [])
  const moved = { ...pod, spec: { ...pod.spec, nodeName: 'other' } }
  assert.match(
    complaints(pods.validateUpdate(moved, pod))[0] ?? '',
    /^spec: Forbidden: pod updates may not change/,
  )
  const cells = (status: object, metadata = {}) =>
    pods.columns
      .slice(1, 4)
      .map(column => column.value({ ...pod, status, metadata: { name: 'a', ...metadata } }, now))
  const running = { name: 'c', ready: true, restartCount: 0, state: { running: {} } }
  assert.deepEqual(cells({ phase: 'Running', containerStatuses: [running] }), ['1/1', 'Running', '0'])
  assert.deepEqual(
    cells({ phase: 'Running' }, { deletionTimestamp: '2026-01-01T00:00:00Z' })[1],
    'Terminating',
  )
  const crashed = {
    restartCount: 3,
    state: { waiting: { reason: 'CrashLoopBackOff' } },
    lastState: { terminated: { finishedAt: '2025-12-31T23:59:00Z' } },
  }
  assert.deepEqual(cells({ phase: 'Running', containerStatuses: [crashed] }), [
    '0/1',
    'CrashLoopBackOff',
    '3 (60s ago)',
  ])
})
