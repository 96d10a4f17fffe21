import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubeObject } from '../../kube/types.ts'
import { startEmbeddedCluster } from '../../testing/embedded-cluster.ts'
import { csiDrivers } from './csidrivers.ts'
import { endpoints } from './endpoints.ts'
import { endpointSlices } from './endpointslices.ts'
import { leases } from './leases.ts'
import type { StoredResource, WriteContext } from './resource.ts'
import { resourceSlices } from './resourceslices.ts'
import { runtimeClasses } from './runtimeclasses.ts'
import type { Service } from './service-columns.ts'
import { services } from './services.ts'

const context: WriteContext = { user: { username: 'u', groups: [] }, now: 0, subresource: '' }
const complaints = (errors: { field: string; text: string }[]) =>
  errors.map(({ field, text }) => `${field}: ${text}`)
const metadata = { name: 'a', namespace: 'default', uid: '00000000-0000-4000-8000-000000000010' }

/** The object as it is after a create, and its cells. */
function created<T extends KubeObject>(resource: StoredResource<T>, object: object) {
  const stored = { apiVersion: 'v1', kind: resource.kind, metadata: { ...metadata }, ...object } as T
  resource.prepareForCreate(stored, context)
  const cells = resource.columns.filter(({ name }) => name !== 'Age').map(column => column.value(stored, 0))
  return { stored, cells, errors: complaints(resource.validate(stored)) }
}

test("a service gets an address of its own, Kubernetes' defaults and columns", () => {
  const { stored, cells, errors } = created(services, {
    spec: { ports: [{ port: 80 }], selector: { app: 'a' } },
  })
  assert.deepEqual(errors, [])
  const { spec } = stored
  assert.match(spec?.clusterIP ?? '', /^10\.(9[6-9]|10\d|11[01])\./)
  assert.deepEqual(spec?.clusterIPs, [spec?.clusterIP])
  assert.deepEqual(spec?.ports, [{ port: 80, protocol: 'TCP', targetPort: 80 }])
  assert.equal(spec?.type, 'ClusterIP')
  assert.deepEqual(stored.status, { loadBalancer: {} })
  assert.deepEqual(cells, ['a', 'ClusterIP', spec?.clusterIP, '<none>', '80/TCP', 'app=a'])
})

test('two services never share an address, and one that belongs to another cannot be had', () => {
  const first = created(services, { spec: { ports: [{ port: 80 }] } }).stored
  const reader = { get: () => undefined, list: () => [first], generation: () => 1 }
  const second: Service = structuredClone({
    ...first,
    metadata: { ...metadata, name: 'b' },
    spec: { ports: [{ port: 1 }] },
  })
  services.prepareForCreate(second, { ...context, reader: reader as never })
  assert.notEqual(second.spec?.clusterIP, first.spec?.clusterIP)
  const third: Service = structuredClone({ ...second, metadata: { ...metadata, name: 'c' } })
  third.spec = { ports: [{ port: 1 }], clusterIP: first.spec?.clusterIP ?? '' }
  assert.throws(
    () => services.prepareForCreate(third, { ...context, reader: reader as never }),
    /provided IP is already allocated/,
  )
})

test('a headless service has no address, an ExternalName none either, a NodePort its port', () => {
  assert.equal(created(services, { spec: { clusterIP: 'None' } }).cells[2], 'None')
  const external = created(services, { spec: { type: 'ExternalName', externalName: 'example.com' } })
  assert.deepEqual(external.cells.slice(1, 5), ['ExternalName', '<none>', 'example.com', '<none>'])
  const node = created(services, { spec: { type: 'NodePort', ports: [{ port: 80 }] } }).stored
  const nodePort = node.spec?.ports?.[0]?.nodePort ?? 0
  assert.ok(nodePort >= 30_000 && nodePort <= 32_767)
})

test('ports, type and name of a service are checked, and its address stays', () => {
  assert.deepEqual(
    created(services, { spec: { type: 'X', ports: [{ port: 0 }, { port: 70_000 }] } }).errors,
    [
      'spec.type: Unsupported value: "X": supported values: "ClusterIP", "ExternalName", "LoadBalancer", "NodePort"',
      'spec.ports[0].name: Required value',
      'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive',
      'spec.ports[1].name: Required value',
      'spec.ports[1].port: Invalid value: 70000: must be between 1 and 65535, inclusive',
      'spec.ports[1].targetPort: Invalid value: 70000: must be between 1 and 65535, inclusive',
    ],
  )
  assert.deepEqual(created(services, { spec: {} }).errors, ['spec.ports: Required value'])
  assert.equal(services.validateName('1a').length, 1)
  const { stored } = created(services, { spec: { ports: [{ port: 80 }] } })
  const moved = { ...stored, spec: { ...stored.spec, clusterIP: '10.96.0.9' } }
  assert.deepEqual(complaints(services.validateUpdate(moved, stored)), [
    'spec.clusterIPs[0]: Invalid value: "10.96.0.9": may not change once set',
  ])
  const silent: Service = { ...stored, spec: { ports: [{ port: 81 }] } }
  services.prepareForUpdate(silent, stored, context)
  assert.equal(silent.spec?.clusterIP, stored.spec?.clusterIP)
})

test('endpoints and slices name their addresses, the first three and how many more', () => {
  const ips = ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4']
  const slice = created(endpointSlices, {
    addressType: 'IPv4',
    endpoints: ips.map(ip => ({ addresses: [ip] })),
    ports: [{ port: 443 }],
  })
  assert.deepEqual(slice.errors, [])
  assert.deepEqual(slice.stored.ports, [{ port: 443, name: '', protocol: 'TCP' }])
  assert.deepEqual(slice.cells, ['a', 'IPv4', '443', '10.0.0.1,10.0.0.2,10.0.0.3 + 1 more...'])
  const subsets = [{ addresses: ips.slice(0, 1).map(ip => ({ ip })), ports: [{ port: 6443 }] }]
  assert.deepEqual(created(endpoints, { subsets }).cells, ['a', '10.0.0.1:6443'])
  assert.deepEqual(created(endpoints, {}).cells, ['a', '<none>'])
})

test('a slice holds addresses of its type only, which cannot change', () => {
  const bad = created(endpointSlices, {
    addressType: 'IPv6',
    endpoints: [{ addresses: ['10.0.0.1'] }, {}],
    ports: [{ name: 'x' }, { name: 'x' }],
  })
  assert.deepEqual(bad.errors, [
    'endpoints[0].addresses[0]: Invalid value: "10.0.0.1": must be an IPv6 address',
    'endpoints[1].addresses: Required value: must contain at least 1 address',
    'ports: Duplicate value: "x"',
  ])
  const { stored } = created(endpointSlices, { addressType: 'IPv4' })
  assert.deepEqual(complaints(endpointSlices.validateUpdate({ ...stored, addressType: 'FQDN' }, stored)), [
    'addressType: Invalid value: "FQDN": field is immutable',
  ])
})

test('a CSI driver has defaults and cells of all types, and two immutable fields', () => {
  const { stored, cells, errors } = created(csiDrivers, { spec: { podInfoOnMount: true } })
  assert.deepEqual(errors, [])
  assert.deepEqual(cells, ['a', true, true, false, '<unset>', false, 'Persistent'])
  const changed = { ...stored, spec: { ...stored.spec, attachRequired: false, fsGroupPolicy: 'X' } }
  assert.deepEqual(complaints(csiDrivers.validateUpdate(changed, stored)), [
    'spec.fsGroupPolicy: Unsupported value: "X": supported values: "File", "None", "ReadWriteOnceWithFSType"',
    'spec.attachRequired: Invalid value: false: field is immutable',
  ])
})

test('A-23: a lease shows its name and its holder', () => {
  assert.deepEqual(
    leases.columns.map(({ name }) => name),
    ['Name', 'Holder', 'Age'],
  )
  assert.deepEqual(created(leases, { spec: { holderIdentity: 'h' } }).cells, ['a', 'h'])
})

test('a runtime class names a handler, for good', () => {
  assert.equal(created(runtimeClasses, {}).errors.length, 1)
  const { stored, cells } = created(runtimeClasses, { handler: 'runc' })
  assert.deepEqual(cells, ['a', 'runc'])
  assert.deepEqual(complaints(runtimeClasses.validateUpdate({ ...stored, handler: 'x' }, stored)), [
    'handler: Invalid value: "x": field is immutable',
  ])
})

const slice = (name: string, nodeName: string) => ({
  apiVersion: 'resource.k8s.io/v1',
  kind: 'ResourceSlice',
  metadata: { name },
  spec: { driver: 'd.example.com', nodeName, pool: { name: nodeName, generation: 1, resourceSliceCount: 1 } },
})

test('a resource slice says in one way which nodes have its devices, and stays with driver and pool', () => {
  const good = slice('a', 'n1')
  assert.deepEqual(created(resourceSlices, good).cells, ['a', 'n1', 'd.example.com', 'n1'])
  assert.deepEqual(created(resourceSlices, { spec: { ...good.spec, allNodes: true } }).errors.length, 1)
  assert.deepEqual(complaints(resourceSlices.validateUpdate(slice('a', 'n2') as never, good as never)), [
    'spec.pool.name: Invalid value: "n2": field is immutable',
    'spec.nodeName: Invalid value: "n2": field is immutable',
  ])
})

test('A-60: a kubelet deletes the resource slices of its own node, and no others', async () => {
  const cluster = await startEmbeddedCluster()
  try {
    await cluster.admin.create(resourceSlices, slice('one', 'n1'))
    await cluster.admin.create(resourceSlices, slice('two', 'n2'))
    const kubelet = await cluster.transportAs('system:node:n1', 'system:nodes')
    const statusOfDelete = async (nodeName: string) => {
      const url = `/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName%3D${nodeName}`
      return (await kubelet.request({ method: 'DELETE', url, headers: {} })).status
    }
    assert.deepEqual([await statusOfDelete('n1'), await statusOfDelete('n2')], [200, 403])
    const { items } = await cluster.admin.list(resourceSlices)
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['two'],
    )
  } finally {
    await cluster.close()
  }
})
