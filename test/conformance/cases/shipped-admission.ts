/**
 * What deploy/admission forbids: built into our API, admission policies on another one. The first steps put the files in
 * place on both; on ours that changes nothing but where the API says so.
 */
import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import type { Case, Step } from '../case.ts'
import { csr, csrs, node, nodes, rbac } from './objects-of.ts'

const folder = new URL('../../../deploy/admission/', import.meta.url)
const admission = '/apis/admissionregistration.k8s.io/v1'
const collections: Readonly<Record<string, string>> = {
  ValidatingAdmissionPolicy: `${admission}/validatingadmissionpolicies`,
  ValidatingAdmissionPolicyBinding: `${admission}/validatingadmissionpolicybindings`,
  ClusterRole: `${rbac}/clusterroles`,
}

/** The objects of a file, each created as it is. */
export function applied(file: string): Step[] {
  const text = readFileSync(new URL(file, folder), 'utf8')
  return parseAllDocuments(text).map(document => {
    const object = document.toJS() as { kind: string }
    const url = collections[object.kind]
    if (url === undefined) throw new RangeError(`${file} holds a ${object.kind}`)
    return { method: 'POST', url, body: object, expect: { status: 201 } }
  })
}

const somebody = { user: 'somebody', groups: ['system:masters'] }
const other = { user: 'other', groups: ['system:masters'] }
const time = '2026-01-01T00:00:00Z'
const condition = (type: string, message = '') => ({
  type,
  status: 'True',
  reason: 'R',
  message,
  lastUpdateTime: time,
})
const having = (...conditions: object[]) => ({ ...csr('$(id)'), status: { conditions } })

const write = (as: Step['as'], body: object, expect: Step['expect']): Step => ({
  ...(as && { as }),
  method: 'PUT',
  url: `${csrs}/$(id)/approval`,
  body,
  expect,
})
const forbidden = (message: RegExp) => ({ status: 403, reason: 'Forbidden', message })

export const shippedAdmission: Case[] = [
  {
    title: 'four-eyes.yaml: a kubelet’s request is approved by another than who made it',
    steps: [
      { as: somebody, method: 'POST', url: csrs, body: csr('$(id)'), expect: { status: 201 } },
      write(
        somebody,
        having(condition('Approved')),
        forbidden(/a kubelet's request is not approved by who made it$/),
      ),
      write(other, having(condition('Approved')), { status: 200 }),
    ],
  },
  {
    title: 'four-eyes.yaml: what is held stays held, and a first approval is in one’s own name',
    steps: [
      { as: somebody, method: 'POST', url: csrs, body: csr('$(id)'), expect: { status: 201 } },
      write(other, having(condition('rollcall.dev/Held')), { status: 200 }),
      write(other, having(), forbidden(/are not taken back$/)),
      write(
        other,
        having(condition('rollcall.dev/Held'), condition('rollcall.dev/FirstApproval', '"third" until 2030')),
        forbidden(/bears the name of who writes it$/),
      ),
    ],
  },
  {
    title:
      'protect-node-addresses.yaml: a node does not change its own addresses, but the rest of its status',
    steps: [
      ...applied('protect-node-addresses.yaml'),
      {
        method: 'POST',
        url: nodes,
        body: node('$(id)', { status: { addresses: [{ type: 'Hostname', address: '$(id)' }] } }),
        expect: { status: 201 },
      },
      ...['InternalIP', 'ExternalIP'].map(
        (type): Step => ({
          as: { user: 'system:node:$(id)', groups: ['system:nodes'] },
          method: 'PATCH',
          url: `${nodes}/$(id)/status`,
          type: 'application/merge-patch+json',
          body: { status: { addresses: [{ type, address: '192.0.2.1' }] } },
          expect: { status: 403, reason: 'Forbidden' },
        }),
      ),
      {
        as: { user: 'system:node:$(id)', groups: ['system:nodes'] },
        method: 'PATCH',
        url: `${nodes}/$(id)/status`,
        type: 'application/strategic-merge-patch+json',
        body: { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
        expect: { status: 200 },
      },
      { method: 'DELETE', url: `${nodes}/$(id)`, expect: { status: 200 } },
      {
        method: 'DELETE',
        url: `${admission}/validatingadmissionpolicybindings/rollcall-protect-node-addresses`,
        expect: { status: 200 },
      },
    ],
  },
  {
    title: 'certificate-policy-writers.yaml: who writes a policy may approve for the signers of kubelets',
    steps: [
      {
        method: 'POST',
        url: `${rbac}/clusterroles`,
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRole',
          metadata: { name: '$(id)' },
          rules: [{ apiGroups: ['rollcall.dev'], resources: ['certificatepolicies'], verbs: ['create'] }],
        },
        expect: { status: 201 },
      },
      {
        method: 'POST',
        url: `${rbac}/clusterrolebindings`,
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'ClusterRoleBinding',
          metadata: { name: '$(id)' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: '$(id)' },
          subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'writer-$(id)' }],
        },
        expect: { status: 201 },
      },
      {
        as: { user: 'writer-$(id)' },
        method: 'POST',
        url: '/apis/rollcall.dev/v1alpha1/certificatepolicies',
        body: {
          apiVersion: 'rollcall.dev/v1alpha1',
          kind: 'CertificatePolicy',
          metadata: { name: 'shadow-$(id)' },
          spec: { evidence: 'NodeStatus' },
        },
        expect: forbidden(/needs verb approve/),
      },
    ],
  },
]
