import { test } from 'node:test'
import { type Case, servingCases } from '../../testing/judged-cases.ts'
import { asking, servingFacts, withAddresses, worker1, worker2 } from '../../testing/judged-request.ts'
import { CertifiedIndex } from '../certified-addresses.ts'
import { Inventory } from '../inventory/inventory.ts'
import { parseInventory } from '../inventory/parse-inventory.ts'
import type { ApprovalPolicy } from '../policy.ts'
import {
  ReservedIndex,
  reservedByEndpoints,
  reservedByService,
  reservedByServiceCidr,
} from '../reserved/reserved-index.ts'

const meta = (name: string, namespace = 'default') => ({ name, namespace })
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: meta('web'),
  spec: { clusterIP: '172.20.0.7', clusterIPs: ['172.20.0.7', 'fd00:20::7'], externalIPs: ['203.0.113.80'] },
  status: { loadBalancer: { ingress: [{ ip: '203.0.113.81' }, { hostname: 'LB.example.net' }] } },
}
const headless = { ...service, metadata: meta('db'), spec: { clusterIP: 'None' }, status: {} }
const slice = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: meta('kubernetes'),
  endpoints: [{ addresses: ['10.0.0.1'] }],
}
const cidr = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes' },
  spec: { cidrs: ['172.30.0.0/16', 'fd00:30::/108'] },
}
const reserved = new ReservedIndex()
reserved.set(service, reservedByService(service))
reserved.set(headless, reservedByService(headless))
reserved.set(slice, reservedByEndpoints(slice))
reserved.set(cidr, reservedByServiceCidr(cidr))

const policy: ApprovalPolicy = {
  evidence: 'NodeStatus',
  allowedRanges: [],
  podRanges: ['10.244.0.0/16'],
  apiServers: ['api.example.net', '10.0.0.100'],
}
/** The Node lists it, so that nothing but what it is stands against it. */
const selfReported = (address: string) => ({
  reserved,
  policy,
  ...withAddresses({ [address]: 'InternalIP' }),
  ...asking([], [address]),
})
const certified = new CertifiedIndex()
certified.add('worker-1', ['203.0.113.80', '172.20.0.7'], Number.POSITIVE_INFINITY)
const inventory = new Inventory('inventory')
inventory.read(
  parseInventory({ i: 'nodes: { worker-1: { addresses: [203.0.113.81, 172.20.0.7, 10.0.0.1] } }' }),
)
const evidence = [inventory]
const controlPlane = {
  ...worker1,
  metadata: { name: 'worker-1', labels: { 'node-role.kubernetes.io/control-plane': '' } },
}
const controlPlaneAt = (address: string) => ({
  ...selfReported(address),
  nodes: [
    { ...controlPlane, ...servingFacts(selfReported(address)).node, metadata: controlPlane.metadata },
    worker2,
  ],
})

const denied: [string, string][] = [
  ['a cluster IP', '172.20.0.7'],
  ['a second cluster IP', 'fd00:20::7'],
  ['an external IP of a Service', '203.0.113.80'],
  ['the address of a load balancer', '203.0.113.81'],
  ['an API server', '10.0.0.1'],
  ['an address of a ServiceCIDR', '172.30.1.2'],
  ['an IPv6 address of a ServiceCIDR', 'fd00:30::9'],
  ['a pod address', '10.244.3.4'],
  ['an API server of the policy', '10.0.0.100'],
  ['a cluster IP through NAT64', '64:ff9b::172.20.0.7'],
  ['a cluster IP through NAT64 of the network', '64:ff9b:1::172.20.0.7'],
  ['a loopback address as 6to4', '2002:7f00:1::1'],
  ['a service address as IPv4-compatible', '::172.30.0.1'],
]

const cases: Case[] = [
  ...denied.map(
    ([what, address]): Case => [
      `F15 ${what}, though the Node lists it`,
      selfReported(address),
      'Deny',
      'ReservedName',
    ],
  ),
  ['F15 the name of a load balancer', { reserved, ...asking(['lb.example.net']) }, 'Deny', 'ReservedName'],
  ['F15 the name of an API server', { policy, ...asking(['API.example.net']) }, 'Deny', 'ReservedName'],
  ['a name in the cluster domain', asking(['worker-1.cluster.local']), 'Deny', 'ReservedName'],
  [
    'a name in another cluster domain',
    { policy: { ...policy, clusterDomain: 'cluster.internal' }, ...asking(['worker-1.cluster.internal']) },
    'Deny',
    'ReservedName',
  ],
  ['the address of nobody else', { ...selfReported('10.0.0.55') }, 'Approve', 'SansProven'],
  [
    'a Service claims an address that the node is certified for',
    { ...selfReported('203.0.113.80'), certified },
    'Approve',
    'SansProven',
  ],
  [
    'the inventory gives the node what a Service publishes',
    { ...selfReported('203.0.113.81'), evidence },
    'Approve',
    'SansProven',
  ],
  [
    'the policy allows what a Service publishes',
    { ...selfReported('203.0.113.81'), policy: { ...policy, allowedRanges: ['203.0.113.0/24'] } },
    'Approve',
    'SansProven',
  ],
  [
    'nothing makes a cluster IP a node’s',
    { ...selfReported('172.20.0.7'), certified, evidence },
    'Deny',
    'ReservedName',
  ],
  [
    'a control plane node has the address of its API server',
    controlPlaneAt('10.0.0.1'),
    'Approve',
    'SansProven',
  ],
  [
    'the inventory gives the node the address of an API server',
    { ...selfReported('10.0.0.1'), evidence },
    'Approve',
    'SansProven',
  ],
  [
    'a control plane node asks for the address of the policy’s API server',
    controlPlaneAt('10.0.0.100'),
    'Deny',
    'ReservedName',
  ],
]
for (const [title, run] of servingCases(cases)) test(title, run)
