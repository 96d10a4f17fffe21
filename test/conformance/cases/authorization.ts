/** Section 3.4: who may do what: the roles that are shipped, RBAC escalation, reviews. */
import { absent, type Case, type Step } from '../case.ts'
import { rbac } from './objects-of.ts'

/** A review of that kind, as `as` asks it. */
const review = (kind: string, spec: object, expect: Step['expect'], as?: Step['as']): Step => ({
  ...(as && { as }),
  method: 'POST',
  url: `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`,
  body: { apiVersion: 'authorization.k8s.io/v1', kind, spec },
  expect,
})

export const authorization: Case[] = [
  {
    title: 'A-40: the roles of certificates are shipped as Kubernetes ships them',
    steps: [
      {
        method: 'GET',
        url: `${rbac}/clusterroles/system:node-bootstrapper`,
        expect: {
          status: 200,
          body: {
            metadata: {
              labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
              annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
            },
            rules: [
              {
                apiGroups: ['certificates.k8s.io'],
                resources: ['certificatesigningrequests'],
                verbs: ['create', 'get', 'list', 'watch'],
              },
            ],
          },
        },
      },
      {
        method: 'GET',
        url: `${rbac}/clusterroles/system:certificates.k8s.io:certificatesigningrequests:selfnodeclient`,
        expect: {
          status: 200,
          body: { rules: [{ resources: ['certificatesigningrequests/selfnodeclient'], verbs: ['create'] }] },
        },
      },
      {
        method: 'GET',
        url: `${rbac}/clusterroles/system:certificates.k8s.io:certificatesigningrequests:selfnodeserver`,
        expect: { status: 404, reason: 'NotFound' },
      },
    ],
  },
  {
    title: 'A-41: the role system:node is bound to nobody, the certificate controller to its account',
    steps: [
      {
        method: 'GET',
        url: `${rbac}/clusterrolebindings/system:node`,
        expect: { status: 200, body: { subjects: absent } },
      },
      {
        method: 'GET',
        url: `${rbac}/clusterrolebindings/system:controller:certificate-controller`,
        expect: {
          status: 200,
          body: {
            subjects: [{ kind: 'ServiceAccount', name: 'certificate-controller', namespace: 'kube-system' }],
          },
        },
      },
    ],
  },
  {
    title: 'A-40: nobody gives away rights that he has not (RBAC escalation)',
    steps: [
      {
        method: 'POST',
        url: `${rbac}/namespaces/$(ns)/roles`,
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: 'writer' },
          rules: [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create'] }],
        },
        expect: { status: 201 },
      },
      {
        method: 'POST',
        url: `${rbac}/namespaces/$(ns)/rolebindings`,
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'RoleBinding',
          metadata: { name: 'writer' },
          roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'writer' },
          subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'eve' }],
        },
        expect: { status: 201 },
      },
      {
        as: { user: 'eve' },
        method: 'POST',
        url: `${rbac}/namespaces/$(ns)/roles`,
        body: {
          apiVersion: 'rbac.authorization.k8s.io/v1',
          kind: 'Role',
          metadata: { name: 'more' },
          rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }],
        },
        expect: {
          status: 403,
          reason: 'Forbidden',
          message: /is attempting to grant RBAC permissions not currently held:/,
        },
      },
    ],
  },
  {
    title: 'C-12: a SubjectAccessReview answers for whom it is asked, with the question the approver asks',
    steps: [
      review(
        'SubjectAccessReview',
        {
          user: 'u',
          groups: ['system:masters'],
          resourceAttributes: {
            verb: 'create',
            group: 'certificates.k8s.io',
            version: '*',
            resource: 'certificatesigningrequests',
            subresource: 'selfnodeclient',
          },
        },
        { status: 201, body: { status: { allowed: true } } },
      ),
      review(
        'SubjectAccessReview',
        {
          user: 'u',
          resourceAttributes: { verb: 'create', resource: 'nodes' },
        },
        { status: 201, body: { status: { allowed: false } } },
      ),
      review(
        'SubjectAccessReview',
        { resourceAttributes: { verb: 'create', resource: 'nodes' } },
        { status: 422, reason: 'Invalid' },
      ),
      review(
        'SelfSubjectAccessReview',
        { resourceAttributes: { verb: 'get', resource: 'nodes' } },
        { status: 201, body: { status: { allowed: false } } },
        { user: 'jane' },
      ),
    ],
  },
]
