import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Secret } from '../../kube/types.ts'
import { accessOver, refusal } from './testing/access-over.ts'
import { bindingOf, clusterRoleOf, userSubject } from './testing/rbac-objects.ts'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const tokenSecret: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
  type: 'bootstrap.kubernetes.io/token',
  data: {
    'token-id': base64('abcdef'),
    'token-secret': base64('0123456789abcdef'),
    'usage-bootstrap-authentication': base64('true'),
  },
}

type Right = [group: string, resource: string, name: string]

/** Who `headers` make of `system:bootstrap:abcdef`, who holds these rights to impersonate. */
function authenticate(headers: Record<string, string>, rights: Right[]) {
  const rules = rights.map(([group, resource, name]) => ({
    verbs: ['impersonate'],
    apiGroups: [group],
    resources: [resource],
    resourceNames: [name],
  }))
  const access = accessOver([
    tokenSecret,
    clusterRoleOf('impersonator', rules),
    bindingOf('impersonator', 'ClusterRole/impersonator', [userSubject('system:bootstrap:abcdef')]),
  ])
  const authorization = 'Bearer abcdef.0123456789abcdef'
  return access.authenticate(
    { method: 'GET', url: '/', headers: { authorization, ...headers } },
    { remoteAddress: '127.0.0.1' },
  )
}

const impersonated: [what: string, headers: Record<string, string>, rights: Right[], user: unknown][] = [
  [
    'a user',
    { 'impersonate-user': 'bob' },
    [['', 'users', 'bob']],
    { username: 'bob', groups: ['system:authenticated'] },
  ],
  [
    'a user in two groups, one name holding a comma',
    { 'impersonate-user': 'bob', 'impersonate-group': 'a,b\nc' },
    [
      ['', 'users', 'bob'],
      ['', 'groups', 'a,b'],
      ['', 'groups', 'c'],
    ],
    { username: 'bob', groups: ['a,b', 'c', 'system:authenticated'] },
  ],
  [
    'a user in a group whose name holds the separator, where the lines are kept apart',
    { 'impersonate-user': 'bob', 'impersonate-group': 'CN=a, O=b\nc' },
    [
      ['', 'users', 'bob'],
      ['', 'groups', 'CN=a, O=b'],
      ['', 'groups', 'c'],
    ],
    { username: 'bob', groups: ['CN=a, O=b', 'c', 'system:authenticated'] },
  ],
  [
    'a user with uid and extra',
    {
      'impersonate-user': 'bob',
      'impersonate-uid': '7',
      'impersonate-extra-example.com%2fscopes': 'view\nedit',
    },
    [
      ['', 'users', 'bob'],
      ['authentication.k8s.io', 'uids', '7'],
      ['authentication.k8s.io', 'userextras/example.com/scopes', 'view'],
      ['authentication.k8s.io', 'userextras/example.com/scopes', 'edit'],
    ],
    {
      username: 'bob',
      uid: '7',
      groups: ['system:authenticated'],
      extra: { 'example.com/scopes': ['view', 'edit'] },
    },
  ],
  [
    'a service account with its own groups',
    { 'impersonate-user': 'system:serviceaccount:ns:robot' },
    [['', 'serviceaccounts', 'robot']],
    {
      username: 'system:serviceaccount:ns:robot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
    },
  ],
  [
    'the anonymous user',
    { 'impersonate-user': 'system:anonymous' },
    [['', 'users', 'system:anonymous']],
    { username: 'system:anonymous', groups: ['system:unauthenticated'] },
  ],
  [
    'a user who is told to be unauthenticated',
    { 'impersonate-user': 'bob', 'impersonate-group': 'system:unauthenticated' },
    [
      ['', 'users', 'bob'],
      ['', 'groups', 'system:unauthenticated'],
    ],
    { username: 'bob', groups: ['system:unauthenticated'] },
  ],
]

for (const [what, headers, rights, user] of impersonated) {
  test(`With the rights for it, a request can impersonate ${what}`, () => {
    const identity = authenticate(headers, rights)
    assert.deepEqual(identity.user, user)
    assert.equal(identity.impersonatedBy?.username, 'system:bootstrap:abcdef')
  })

  for (const [index, right] of rights.entries()) {
    test(`Without the right for ${right.join(' ')}, it cannot impersonate ${what}`, () => {
      const others = rights.filter((_, at) => at !== index)
      assert.match(
        refusal(() => authenticate(headers, others)),
        /cannot impersonate resource/,
      )
    })
  }
}

const who = 'User "system:bootstrap:abcdef" cannot impersonate resource'
const refused: [why: string, headers: Record<string, string>, rights: Right[], message: string][] = [
  [
    'system:masters',
    { 'impersonate-user': 'bob', 'impersonate-group': 'system:masters' },
    [['', 'users', 'bob']],
    `groups "system:masters" is forbidden: ${who} "groups" in API group "" at the cluster scope`,
  ],
  [
    'a service account through the right for users',
    { 'impersonate-user': 'system:serviceaccount:ns:robot' },
    [['', 'users', 'system:serviceaccount:ns:robot']],
    `serviceaccounts "robot" is forbidden: ${who} "serviceaccounts" in API group "" in the namespace "ns"`,
  ],
  [
    'an extra value',
    { 'impersonate-user': 'bob', 'impersonate-extra-scopes': 'view' },
    [['', 'users', 'bob']],
    `userextras.authentication.k8s.io "view" is forbidden: ${who} "userextras/scopes" in API group "authentication.k8s.io" at the cluster scope`,
  ],
]
for (const [why, headers, rights, message] of refused) {
  test(`The refusal to impersonate ${why} has Kubernetes' text`, () => {
    assert.equal(
      refusal(() => authenticate(headers, rights)),
      message,
    )
  })
}

test('A group without a user to impersonate is a bad request', () => {
  assert.equal(
    refusal(() => authenticate({ 'impersonate-group': 'a' }, []), 400),
    'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"a"}, Extra:map[string][]string(nil)} without impersonating a user name',
  )
})

test('An extra key that is no percent-encoding is taken as it stands', () => {
  const rights: Right[] = [
    ['', 'users', 'bob'],
    ['authentication.k8s.io', 'userextras/a%zz', 'v'],
  ]
  const { user } = authenticate({ 'impersonate-user': 'bob', 'impersonate-extra-a%zz': 'v' }, rights)
  assert.deepEqual(user.extra, { 'a%zz': ['v'] })
})
