/** Well-formed objects of the served kinds, for the grammars to start from. */
import type { Resource } from '../../src/apiserver/resources/resource.ts'
import { apiVersionOf } from '../../src/apiserver/stored-object.ts'
import type { Chance } from './chance.ts'
import { anyValue } from './json.ts'
import { number } from './text.ts'

const rules = [{ apiGroups: [''], resources: ['nodes'], verbs: ['get'] }]
const ref = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }
const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'u' }]
const condition = { type: 'Approved', status: 'True', reason: 'x', message: 'y' }

/** Beside metadata. `request` is base64 of a CSR. */
function content(chance: Chance, kind: string, request: string): Record<string, unknown> {
  switch (kind) {
    case 'CertificateSigningRequest':
      return {
        spec: {
          request,
          signerName: chance.pick([
            'kubernetes.io/kube-apiserver-client-kubelet',
            'kubernetes.io/kubelet-serving',
            'example.com/x',
          ]),
          usages: ['digital signature', 'client auth'],
          ...(chance.maybe(0.3) && { expirationSeconds: number(chance) }),
        },
        ...(chance.maybe(0.3) && { status: { conditions: [condition], certificate: request } }),
      }
    case 'Node':
      return {
        spec: { podCIDR: '10.1.0.0/24' },
        status: {
          addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
          conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-01-01T00:00:00Z' }],
          nodeInfo: { kubeletVersion: 'v1.36.0' },
        },
      }
    case 'Lease':
      return {
        spec: { holderIdentity: 'a', renewTime: '2026-01-01T00:00:00.000000Z', leaseDurationSeconds: 40 },
      }
    case 'Secret':
      return { type: 'Opaque', data: { a: 'eA==' }, stringData: { b: 'x' } }
    case 'ConfigMap':
      return { data: { a: 'x' }, binaryData: { b: 'eA==' } }
    case 'Pod':
      return { spec: { nodeName: 'worker-1', containers: [{ name: 'c', image: 'i' }] } }
    case 'Event':
      return { involvedObject: { kind: 'Node', name: 'a' }, reason: 'x', message: 'y', type: 'Normal' }
    case 'Role':
    case 'ClusterRole':
      return { rules }
    case 'RoleBinding':
    case 'ClusterRoleBinding':
      return { roleRef: ref, subjects }
    case 'SubjectAccessReview':
    case 'LocalSubjectAccessReview':
    case 'SelfSubjectAccessReview':
      return { spec: { user: 'u', resourceAttributes: { verb: 'get', resource: 'nodes' } } }
    case 'SelfSubjectRulesReview':
      return { spec: { namespace: 'default' } }
    case 'TokenReview':
      return { spec: { token: 'abcdef.0123456789abcdef' } }
    default:
      return { spec: anyValue(chance, 2) }
  }
}

export function wellFormed(
  chance: Chance,
  resource: Resource,
  named: string,
  request: string,
): Record<string, unknown> {
  return {
    kind: resource.kind,
    apiVersion: apiVersionOf(resource),
    metadata: {
      ...(chance.maybe(0.8) ? { name: named } : { generateName: 'g-' }),
      ...(resource.namespaced && chance.maybe(0.5) && { namespace: 'default' }),
      ...(chance.maybe(0.3) && { labels: { app: 'x' }, annotations: { note: 'y' } }),
      ...(chance.maybe(0.15) && { finalizers: ['example.com/f'] }),
      ...(chance.maybe(0.15) && {
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u' }],
      }),
      ...(chance.maybe(0.05) && { resourceVersion: String(chance.below(200)) }),
    },
    ...content(chance, resource.kind, request),
  }
}
