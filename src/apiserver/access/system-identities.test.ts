import assert from 'node:assert/strict'
import { test } from 'node:test'
import { anonymous, authenticatedUser, splitServiceAccountUserName } from './system-identities.ts'

test('The user name of a service account has a namespace and a name', () => {
  assert.deepEqual(splitServiceAccountUserName('system:serviceaccount:ns-1:a.b-c'), {
    namespace: 'ns-1',
    name: 'a.b-c',
  })
})

const others = [
  'ns:a',
  'system:serviceaccount:ns',
  'system:serviceaccount::a',
  'system:serviceaccount:ns:',
  'system:serviceaccount:ns:a:b',
  'system:serviceaccount:NS:a',
  'system:serviceaccount:n.s:a',
  'system:serviceaccount:ns:A',
  'system:serviceaccount:ns:a..b',
  `system:serviceaccount:${'n'.repeat(64)}:a`,
  `system:serviceaccount:ns:${'a'.repeat(254)}`,
]
for (const username of others) {
  test(`${username.slice(0, 40)} is no service account`, () => {
    assert.equal(splitServiceAccountUserName(username), undefined)
  })
}

test('system:authenticated is added once, and not to who says to be unauthenticated', () => {
  const groupsOf = (...groups: string[]) => authenticatedUser({ username: 'u', groups }).groups
  assert.deepEqual(groupsOf('a'), ['a', 'system:authenticated'])
  assert.deepEqual(groupsOf('system:authenticated', 'a'), ['system:authenticated', 'a'])
  assert.deepEqual(groupsOf('system:unauthenticated'), ['system:unauthenticated'])
})

test('A user that many requests share cannot be changed', () => {
  const user = authenticatedUser({ username: 'u', groups: [], extra: { k: ['v'] } })
  assert.throws(() => user.groups.push('system:masters'), TypeError)
  assert.throws(() => user.extra?.k?.push('w'), TypeError)
  assert.throws(() => anonymous.groups.push('system:masters'), TypeError)
})
