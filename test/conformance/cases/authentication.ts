/** Section 3.3: who somebody is: anonymous, by certificate, bootstrap token or service account, or impersonated. */
import { absent, type Case, type Pattern, type Step } from '../case.ts'
import { csrs } from './objects-of.ts'

/** What the server says of who asks. */
const whoAmI = (userInfo: Pattern, by: Pick<Step, 'as' | 'headers'> = {}): Step => ({
  ...by,
  method: 'POST',
  url: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
  body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
  expect: { status: 201, body: { status: { userInfo } } },
})

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

export const authentication: Case[] = [
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
      whoAmI({
        groups: [/./, 'system:authenticated'],
        extra: { 'authentication.kubernetes.io/credential-id': [/^X509SHA256=/] },
      }),
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
      whoAmI(
        {
          username: 'system:bootstrap:cnf001',
          groups: ['system:bootstrappers', 'system:bootstrappers:test', 'system:authenticated'],
          extra: absent,
          uid: absent,
        },
        { as: holder },
      ),
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
      whoAmI(
        {
          username: 'system:serviceaccount:$(ns):robot',
          groups: ['system:serviceaccounts', 'system:serviceaccounts:$(ns)', 'system:authenticated'],
          extra: { 'authentication.kubernetes.io/credential-id': [/^JTI=/] },
        },
        { as: { bearer: '$(token)' } },
      ),
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
      whoAmI(
        {
          groups: ['system:serviceaccounts', 'system:serviceaccounts:a', 'system:authenticated'],
        },
        { headers: { 'impersonate-user': 'system:serviceaccount:a:b' } },
      ),
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
