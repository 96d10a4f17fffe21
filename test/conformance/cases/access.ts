/** Sections 3.3 and 3.4: authentication, bootstrap tokens, service accounts, RBAC, reviews, impersonation. */
import { absent, type Case, type Step } from '../case.ts'
import { csrs, rbac } from './objects-of.ts'

const review = (kind: string, spec: object) => ({ apiVersion: 'authorization.k8s.io/v1', kind, spec })
const selfReview: Step['body'] = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }
const selfReviews = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

const tokenSecret = (data: object) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'bootstrap-token-cnf001', namespace: 'kube-system' },
  type: 'bootstrap.kubernetes.io/token',
  stringData: {
    'token-id': 'cnf001',
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-authentication': 'true',
    ...data,
  },
})

const holder = { bearer: 'cnf001.0123456789abcdef' }

/** What a kubelet asks for while it has no certificate, in a recorded run of 1.36 (section 6.2). */
const ofKubelet = [
  '/api/v1/nodes/worker-1?resourceVersion=0&timeout=10s',
  '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/worker-1?timeout=10s',
  '/apis/node.k8s.io/v1/runtimeclasses?limit=500&resourceVersion=0',
  '/apis/storage.k8s.io/v1/csidrivers?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=300&watch=true',
]

export const access: Case[] = [
  {
    title: 'K-6, A-30: a kubelet without a certificate is anonymous, and refused whatever it asks for',
    steps: [
      ...ofKubelet.map(
        (url): Step => ({
          as: 'anonymous',
          method: 'GET',
          url,
          headers: { accept: 'application/vnd.kubernetes.protobuf,application/json' },
          expect: { status: 403 },
        }),
      ),
      {
        as: 'anonymous',
        method: 'PATCH',
        url: '/api/v1/nodes/worker-1/status?timeout=10s',
        type: 'application/strategic-merge-patch+json',
        body: {},
        expect: { status: 403, reason: 'Forbidden' },
      },
    ],
  },
  {
    title: 'A-30: without a credential one is system:anonymous; a bad one is 401, never anonymous',
    steps: [
      {
        as: 'anonymous',
        method: 'GET',
        url: '/api/v1/nodes',
        expect: {
          status: 403,
          reason: 'Forbidden',
          message:
            'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" at the cluster scope',
        },
      },
      {
        as: 'anonymous',
        method: 'GET',
        url: '/elsewhere',
        expect: {
          status: 403,
          reason: 'Forbidden',
          message: 'forbidden: User "system:anonymous" cannot get path "/elsewhere"',
        },
      },
      {
        as: { bearer: 'nonsense' },
        method: 'GET',
        url: '/api/v1/nodes',
        expect: { status: 401, reason: 'Unauthorized', message: 'Unauthorized' },
      },
      { as: 'anonymous', method: 'GET', url: '/version', expect: { status: 200 } },
      { as: 'anonymous', method: 'GET', url: '/healthz', expect: { status: 200, body: 'ok' } },
    ],
  },
  {
    title: 'A-30, A-31: a client certificate says who it is, with system:authenticated behind its groups',
    steps: [
      {
        method: 'POST',
        url: selfReviews,
        body: selfReview,
        expect: {
          status: 201,
          body: {
            status: {
              userInfo: {
                groups: [/./, 'system:authenticated'],
                extra: { 'authentication.kubernetes.io/credential-id': [/^X509SHA256=/] },
              },
            },
          },
        },
      },
    ],
  },
  {
    title: 'A-32: a bootstrap token stands for system:bootstrap:ID until it is wrong in anything',
    steps: [
      {
        method: 'POST',
        url: '/api/v1/namespaces/kube-system/secrets',
        body: tokenSecret({ 'auth-extra-groups': 'system:bootstrappers:test' }),
        expect: { status: 201 },
      },
      {
        as: holder,
        method: 'POST',
        url: selfReviews,
        body: selfReview,
        expect: {
          status: 201,
          body: {
            status: {
              userInfo: {
                username: 'system:bootstrap:cnf001',
                groups: ['system:bootstrappers', 'system:bootstrappers:test', 'system:authenticated'],
                extra: absent,
                uid: absent,
              },
            },
          },
        },
      },
      { as: holder, method: 'GET', url: csrs, expect: { status: 403, reason: 'Forbidden' } },
      {
        method: 'PUT',
        url: '/api/v1/namespaces/kube-system/secrets/bootstrap-token-cnf001',
        body: tokenSecret({ expiration: '2001-01-01T00:00:00Z' }),
        expect: { status: 200 },
      },
      { as: holder, method: 'GET', url: csrs, expect: { status: 401, reason: 'Unauthorized' } },
      {
        method: 'DELETE',
        url: '/api/v1/namespaces/kube-system/secrets/bootstrap-token-cnf001',
        expect: { status: 200, body: { kind: 'Status', status: 'Success' } },
      },
    ],
  },
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
      {
        method: 'POST',
        url: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        body: review('SubjectAccessReview', {
          user: 'u',
          groups: ['system:masters'],
          resourceAttributes: {
            verb: 'create',
            group: 'certificates.k8s.io',
            version: '*',
            resource: 'certificatesigningrequests',
            subresource: 'selfnodeclient',
          },
        }),
        expect: { status: 201, body: { status: { allowed: true } } },
      },
      {
        method: 'POST',
        url: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        body: review('SubjectAccessReview', {
          user: 'u',
          resourceAttributes: { verb: 'create', resource: 'nodes' },
        }),
        expect: { status: 201, body: { status: { allowed: false } } },
      },
      {
        method: 'POST',
        url: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        body: review('SubjectAccessReview', { resourceAttributes: { verb: 'create', resource: 'nodes' } }),
        expect: { status: 422, reason: 'Invalid' },
      },
      {
        as: { user: 'jane' },
        method: 'POST',
        url: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        body: review('SelfSubjectAccessReview', { resourceAttributes: { verb: 'get', resource: 'nodes' } }),
        expect: { status: 201, body: { status: { allowed: false } } },
      },
    ],
  },
  {
    title:
      'A-2: a service account’s token, bound to a pod, leaves its JTI and pod in spec.extra, and ends with its account',
    steps: [
      {
        method: 'POST',
        url: '/api/v1/namespaces/$(ns)/serviceaccounts',
        body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot' } },
        expect: { status: 201 },
      },
      {
        method: 'POST',
        url: '/api/v1/namespaces/$(ns)/serviceaccounts/robot/token',
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { expirationSeconds: 599 },
        },
        expect: { status: 422, reason: 'Invalid', message: /spec\.expirationSeconds/ },
      },
      {
        method: 'POST',
        url: '/api/v1/namespaces/$(ns)/serviceaccounts/robot/token',
        body: {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          spec: { expirationSeconds: 600 },
        },
        expect: {
          status: 201,
          body: { kind: 'TokenRequest', status: { token: /^ey[\w-]+\.[\w-]+\.[\w-]+$/ } },
        },
        keep: { token: 'status.token' },
      },
      {
        as: { bearer: '$(token)' },
        method: 'POST',
        url: selfReviews,
        body: selfReview,
        expect: {
          status: 201,
          body: {
            status: {
              userInfo: {
                username: 'system:serviceaccount:$(ns):robot',
                groups: ['system:serviceaccounts', 'system:serviceaccounts:$(ns)', 'system:authenticated'],
                extra: { 'authentication.kubernetes.io/credential-id': [/^JTI=/] },
              },
            },
          },
        },
      },
      {
        method: 'POST',
        url: '/apis/authentication.k8s.io/v1/tokenreviews',
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: '$(token)' } },
        expect: {
          status: 201,
          body: { status: { authenticated: true, user: { username: 'system:serviceaccount:$(ns):robot' } } },
        },
      },
      { method: 'DELETE', url: '/api/v1/namespaces/$(ns)/serviceaccounts/robot', expect: { status: 200 } },
    ],
  },
  {
    title: 'A-30: who may not impersonate is refused, and groups without a user are a bad request',
    steps: [
      {
        as: 'anonymous',
        method: 'GET',
        url: '/api/v1/nodes',
        headers: { 'impersonate-user': 'jane' },
        expect: {
          status: 403,
          reason: 'Forbidden',
          message:
            'users "jane" is forbidden: User "system:anonymous" cannot impersonate resource "users" in API group "" at the cluster scope',
        },
      },
      {
        method: 'POST',
        url: selfReviews,
        body: selfReview,
        headers: { 'impersonate-user': 'system:serviceaccount:a:b' },
        expect: {
          status: 201,
          body: {
            status: {
              userInfo: {
                groups: ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
              },
            },
          },
        },
      },
      {
        method: 'GET',
        url: '/api/v1/nodes',
        headers: { 'impersonate-group': 'devs' },
        expect: {
          status: 400,
          reason: 'BadRequest',
          message:
            'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"devs"}, Extra:map[string][]string(nil)} without impersonating a user name',
        },
      },
    ],
  },
]
