/** The kinds that sequences are about, each with content that a server takes, and content that it does not. */
import type { Chance } from '../../fuzz/chance.ts'
import { configMap, csr, kubeletRequest } from '../cases/objects-of.ts'

export interface SequenceKind {
  apiVersion: string
  kind: string
  /** Below the namespace of the sequence, or for kinds without one the collection itself. */
  path: string
  namespaced: boolean
  /** What an object has beside metadata. */
  content(chance: Chance, namespace: string): Record<string, unknown>
  /** Content that is refused, or that comes back otherwise. */
  odd(chance: Chance): Record<string, unknown>
  subresources: readonly string[]
}

const rbac = 'rbac.authorization.k8s.io'
const word = (chance: Chance) => chance.pick(['x', 'y', 'red', 'blue', ''])
const rule = (chance: Chance) => ({
  apiGroups: [''],
  resources: [chance.pick(['nodes', 'secrets', 'pods/log'])],
  verbs: [chance.pick(['get', 'list', '*'])],
})

const core = (kind: string, plural: string, namespaced = true) => ({
  apiVersion: 'v1',
  kind,
  path: plural,
  namespaced,
  subresources: [],
})

export const kinds: readonly SequenceKind[] = [
  {
    ...core('ConfigMap', 'configmaps'),
    content: chance => ({ data: { a: word(chance), [word(chance) || 'k']: 'v' } }),
    odd: chance =>
      chance.pick<Record<string, unknown>>([
        { data: { 'not a key': 'v' } },
        { data: { a: 'v' }, binaryData: { a: 'eA==' } },
        { data: { a: 1 } },
        { data: {} },
        { binaryData: { b: 'no base64!' } },
        { data: { a: 'v' }, immutable: true },
        { spec: { unknown: 1 } },
      ]),
  },
  {
    ...core('Secret', 'secrets'),
    content: chance => ({ stringData: { a: word(chance) }, data: { b: 'eA==' } }),
    odd: chance =>
      chance.pick<Record<string, unknown>>([
        { data: { a: 'no base64!' } },
        { type: 'kubernetes.io/tls', data: { 'tls.crt': 'eA==' } },
        { type: 'example.com/other', stringData: { x: 'y' } },
        { type: 'kubernetes.io/basic-auth', stringData: {} },
        { stringData: { 'not a key': 'v' } },
      ]),
  },
  {
    ...core('ServiceAccount', 'serviceaccounts'),
    content: () => ({}),
    odd: chance =>
      chance.pick<Record<string, unknown>>([
        { automountServiceAccountToken: false },
        { secrets: [{ name: 's' }] },
        { secrets: 'none' },
      ]),
    subresources: ['token'],
  },
  {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    path: 'leases',
    namespaced: true,
    content: chance => ({
      spec: { holderIdentity: word(chance), leaseDurationSeconds: 1 + chance.below(40) },
    }),
    odd: chance =>
      chance.pick<Record<string, unknown>>([
        { spec: { leaseDurationSeconds: 0 } },
        { spec: { leaseTransitions: -1 } },
        { spec: { renewTime: 'yesterday' } },
        { spec: { renewTime: '2026-01-01T00:00:00.000001Z' } },
      ]),
    subresources: [],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'Role',
    path: 'roles',
    namespaced: true,
    content: chance => ({ rules: [rule(chance)] }),
    odd: chance =>
      chance.pick<Record<string, unknown>>([
        { rules: [{ verbs: [] }] },
        { rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'], nonResourceURLs: ['/x'] }] },
        { rules: [{ ...rule(chance), resourceNames: ['a', 'b'] }] },
      ]),
    subresources: [],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    path: 'rolebindings',
    namespaced: true,
    content: chance => ({
      roleRef: { apiGroup: rbac, kind: 'Role', name: chance.pick(['a', 'b']) },
      subjects: [{ kind: 'User', apiGroup: rbac, name: 'jane' }],
    }),
    odd: chance =>
      chance.pick<Record<string, unknown>>([
        { roleRef: { apiGroup: rbac, kind: 'Nothing', name: 'a' } },
        { subjects: [] },
        {
          roleRef: { apiGroup: rbac, kind: 'Role', name: 'a' },
          subjects: [{ kind: 'ServiceAccount', name: 'x' }],
        },
      ]),
    subresources: [],
  },
  {
    ...core('Node', 'nodes', false),
    content: chance => ({
      spec: { unschedulable: true },
      status: {
        addresses: [{ type: 'InternalIP', address: '192.0.2.1' }],
        conditions: [{ type: 'Ready', status: chance.pick(['True', 'False']) }],
      },
    }),
    odd: chance =>
      chance.pick<Record<string, unknown>>([
        { spec: { taints: [{ key: 'k', effect: 'NoSuchEffect' }] } },
        { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } },
        { spec: { podCIDR: 'nonsense' } },
        { spec: 'nonsense' },
      ]),
    subresources: ['status'],
  },
  {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    path: 'certificatesigningrequests',
    namespaced: false,
    content: chance => ({
      spec: {
        ...csr('').spec,
        signerName: 'example.com/signer',
        ...(chance.maybe(0.3) && { expirationSeconds: chance.pick([600, 3600, 86_400]) }),
      },
    }),
    odd: chance => ({
      spec: {
        ...csr('').spec,
        ...chance.pick<Record<string, unknown>>([
          { usages: [] },
          { usages: ['flying'] },
          { usages: ['client auth', 'client auth'] },
          { signerName: 'nothing' },
          { signerName: 'kubernetes.io/legacy-unknown' },
          { expirationSeconds: 10 },
          { request: kubeletRequest.slice(40) },
          { request: '!' },
        ]),
      },
    }),
    subresources: ['status', 'approval'],
  },
  {
    ...core('Pod', 'pods'),
    content: chance => ({
      spec: {
        containers: [{ name: 'c', image: 'example.com/i', ...(chance.maybe(0.3) && { command: ['true'] }) }],
        ...(chance.maybe(0.2) && { nodeName: 'n' }),
        ...(chance.maybe(0.2) && { restartPolicy: 'Never' }),
      },
    }),
    odd: chance =>
      chance.pick<Record<string, unknown>>([
        { spec: { containers: [] } },
        { spec: { containers: [{ name: 'Not Valid', image: 'i' }] } },
        { spec: { containers: [{ name: 'c' }] } },
        { spec: { containers: 'c' } },
        {
          spec: {
            containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }],
            hostNetwork: true,
          },
        },
      ]),
    subresources: ['status'],
  },
  {
    ...core('Service', 'services'),
    content: chance => ({
      spec: {
        ports: [{ port: chance.pick([80, 443]), ...(chance.maybe(0.3) && { targetPort: 'http' }) }],
        ...(chance.maybe(0.3) && { clusterIP: 'None' }),
        ...(chance.maybe(0.3) && { selector: { app: 'x' } }),
      },
    }),
    odd: chance =>
      chance.pick<Record<string, unknown>>([
        { spec: { ports: [{ port: 0 }] } },
        { spec: { ports: [{ port: 80 }, { port: 81 }] } },
        { spec: { type: 'Odd', ports: [{ port: 80 }] } },
        { spec: { clusterIP: 'nonsense', ports: [{ port: 80 }] } },
      ]),
    subresources: ['status'],
  },
  {
    ...core('Event', 'events'),
    content: (chance, namespace) => ({
      involvedObject: { kind: 'Pod', namespace, name: 'n' },
      reason: chance.pick(['R', 'S']),
      message: 'm',
      type: 'Normal',
    }),
    odd: chance =>
      chance.pick<Record<string, unknown>>([
        { involvedObject: { kind: 'Pod', name: 'p', namespace: 'other' } },
        { involvedObject: { kind: 'Node', name: 'n' }, type: 'Odd' },
        { count: 'many' },
      ]),
    subresources: [],
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    path: 'endpointslices',
    namespaced: true,
    content: () => ({
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.1'] }],
      ports: [{ port: 80 }],
    }),
    odd: chance =>
      chance.pick<Record<string, unknown>>([
        { addressType: 'Odd' },
        { addressType: 'IPv4', endpoints: [{ addresses: [] }] },
        { addressType: 'IPv6', endpoints: [{ addresses: ['192.0.2.1'] }] },
      ]),
    subresources: [],
  },
]

/** Sentinel of the watches: no other request is about it. */
export const sentinel = configMap('sentinel', { the: 'end' })
