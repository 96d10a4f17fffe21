/** Section 3.5: who may approve, sign and ask for what. The Node authorizer and NodeRestriction as an impersonated node meets them. */
import type { Case, Step } from '../case.ts'
import { csr, csrs, kubeletClient, mastersRequest, node, nodes, pod, pods, rbac } from './objects-of.ts'

const worker = { user: 'system:node:worker-1', groups: ['system:nodes'] }
const approver = { user: 'approver-$(id)' }

const role = (name: string, rules: object[]) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name },
  rules,
})

const binding = (name: string, user: string) => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
  subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }],
})

/** Rights for one user; what he may do is there when the next step begins, or soon after. */
const granted = (user: string, ...rules: object[]): Step[] => [
  { method: 'POST', url: `${rbac}/clusterroles`, body: role('$(id)', rules), expect: { status: 201 } },
  {
    method: 'POST',
    url: `${rbac}/clusterrolebindings`,
    body: binding('$(id)', user),
    expect: { status: 201 },
  },
]

const approval = {
  apiGroups: ['certificates.k8s.io'],
  resources: ['certificatesigningrequests/approval', 'certificatesigningrequests/status'],
  verbs: ['update'],
}

const approved = { ...csr('$(id)'), status: { conditions: [{ type: 'Approved', status: 'True' }] } }
const failed = { ...csr('$(id)'), status: { conditions: [{ type: 'Failed', status: 'True' }] } }

export const certificateAdmission: Case[] = [
  {
    title:
      'A-50, A-51: approving needs the verb approve and marking Failed the verb sign, for the signer or its whole domain',
    steps: [
      ...granted('approver-$(id)', approval),
      { method: 'POST', url: csrs, body: csr('$(id)'), expect: { status: 201 } },
      {
        as: approver,
        method: 'PUT',
        url: `${csrs}/$(id)/approval`,
        body: approved,
        expect: {
          status: 403,
          reason: 'Forbidden',
          message: `certificatesigningrequests.certificates.k8s.io "$(id)" is forbidden: user not permitted to approve requests with signerName "${kubeletClient}"`,
        },
      },
      {
        as: approver,
        method: 'PUT',
        url: `${csrs}/$(id)/status`,
        body: failed,
        expect: {
          status: 403,
          reason: 'Forbidden',
          message: `certificatesigningrequests.certificates.k8s.io "$(id)" is forbidden: user not permitted to sign requests with signerName "${kubeletClient}"`,
        },
      },
      {
        method: 'PUT',
        url: `${rbac}/clusterroles/$(id)`,
        body: role('$(id)', [
          approval,
          {
            apiGroups: ['certificates.k8s.io'],
            resources: ['signers'],
            resourceNames: ['kubernetes.io/*'],
            verbs: ['approve'],
          },
        ]),
        expect: { status: 200 },
      },
      { as: approver, method: 'PUT', url: `${csrs}/$(id)/approval`, body: approved, expect: { status: 200 } },
    ],
  },
  {
    title: 'A-52: nobody asks kube-apiserver-client for system:masters',
    steps: [
      {
        method: 'POST',
        url: csrs,
        body: csr('$(id)', { request: mastersRequest, signerName: 'kubernetes.io/kube-apiserver-client' }),
        expect: {
          status: 403,
          reason: 'Forbidden',
          message:
            /use of kubernetes\.io\/kube-apiserver-client signer with system:masters group is not allowed/,
        },
      },
      {
        method: 'POST',
        url: csrs,
        body: csr('$(id)', { request: mastersRequest, signerName: 'example.com/any' }),
        expect: { status: 201 },
      },
    ],
  },
  {
    title: 'A-53: a node asks for certificates of its own name alone',
    steps: [
      {
        as: { user: 'system:node:worker-2', groups: ['system:nodes'] },
        method: 'POST',
        url: csrs,
        body: csr('$(id)'),
        expect: {
          status: 403,
          reason: 'Forbidden',
          message: /can only create a node CSR with CN=system:node:worker-2/,
        },
      },
      { as: worker, method: 'POST', url: csrs, body: csr('$(id)'), expect: { status: 201 } },
    ],
  },
  {
    title: 'A-53: a node gives itself no label that others trust, and makes no other node',
    steps: [
      {
        as: { user: 'system:node:$(id)', groups: ['system:nodes'] },
        method: 'POST',
        url: nodes,
        body: {
          apiVersion: 'v1',
          kind: 'Node',
          metadata: { name: '$(id)', labels: { 'node-restriction.kubernetes.io/x': 'y' } },
        },
        expect: { status: 403, reason: 'Forbidden', message: /node-restriction\.kubernetes\.io\/x/ },
      },
      {
        as: { user: 'system:node:$(id)', groups: ['system:nodes'] },
        method: 'POST',
        url: nodes,
        body: node('other-$(id)'),
        expect: { status: 403, reason: 'Forbidden' },
      },
      {
        as: { user: 'system:node:$(id)', groups: ['system:nodes'] },
        method: 'POST',
        url: nodes,
        body: node('$(id)'),
        expect: { status: 201 },
      },
    ],
  },
  {
    title: 'A-53: a node makes no pods but mirror pods',
    steps: [
      {
        as: { user: 'system:node:$(id)', groups: ['system:nodes'] },
        method: 'POST',
        url: pods,
        body: pod('p', { nodeName: '$(id)' }),
        expect: { status: 403, reason: 'Forbidden', message: /mirror/ },
      },
    ],
  },
  {
    title: 'A-60: every node reads all requests, and approves none',
    steps: [
      { method: 'POST', url: csrs, body: csr('$(id)'), expect: { status: 201 } },
      { as: worker, method: 'GET', url: `${csrs}/$(id)`, expect: { status: 200 } },
      { as: worker, method: 'GET', url: `${csrs}?limit=1`, expect: { status: 200 } },
      {
        as: worker,
        method: 'PUT',
        url: `${csrs}/$(id)/approval`,
        body: approved,
        expect: { status: 403, reason: 'Forbidden' },
      },
    ],
  },
  {
    title: 'A-61: a node reads itself and its lease, and lists nodes and pods by a selector that says so',
    steps: [
      {
        as: worker,
        method: 'GET',
        url: `${nodes}?fieldSelector=metadata.name%3Dworker-1`,
        expect: { status: 200 },
      },
      { as: worker, method: 'GET', url: nodes, expect: { status: 403, reason: 'Forbidden' } },
      { as: worker, method: 'GET', url: `${nodes}/worker-2`, expect: { status: 403, reason: 'Forbidden' } },
      {
        as: worker,
        method: 'GET',
        url: '/api/v1/pods?fieldSelector=spec.nodeName%3Dworker-1',
        expect: { status: 200 },
      },
      { as: worker, method: 'GET', url: '/api/v1/pods', expect: { status: 403, reason: 'Forbidden' } },
      {
        as: worker,
        method: 'GET',
        url: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-2',
        expect: { status: 403, reason: 'Forbidden' },
      },
      {
        as: worker,
        method: 'GET',
        url: '/api/v1/namespaces/$(ns)/secrets/any',
        expect: {
          status: 403,
          reason: 'Forbidden',
          message: /no relationship found between node 'worker-1' and this object/,
        },
      },
    ],
  },
]
