import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Secret } from '../../../kube/types.ts'
import { judgeBootstrapToken, parseBootstrapToken } from './bootstrap-token.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const token = { id: 'abcdef', secret: '0123456789abcdef' }
const good = {
  'token-id': 'abcdef',
  'token-secret': '0123456789abcdef',
  'usage-bootstrap-authentication': 'true',
}

function secret(data: Record<string, string>, more: Partial<Secret> = {}): Secret {
  const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'bootstrap-token-abcdef', namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    data: Object.fromEntries(encoded),
    ...more,
  }
}

test('A-32: a token is its user in the default group, with system:authenticated last', () => {
  const verdict = judgeBootstrapToken(token, secret(good), now)
  assert.deepEqual(verdict, {
    ok: true,
    user: { username: 'system:bootstrap:abcdef', groups: ['system:bootstrappers', 'system:authenticated'] },
  })
})

test('A-32: extra groups are sorted into the default one, each once', () => {
  const groups = 'system:bootstrappers:zoo,system:bootstrappers:a:b-1,system:bootstrappers:zoo'
  const verdict = judgeBootstrapToken(token, secret({ ...good, 'auth-extra-groups': groups }), now)
  assert.deepEqual(verdict.ok && verdict.user.groups, [
    'system:bootstrappers',
    'system:bootstrappers:a:b-1',
    'system:bootstrappers:zoo',
    'system:authenticated',
  ])
})

const accepted: [why: string, data: Record<string, string>][] = [
  ['expires a second later', { expiration: '2026-03-01T12:00:01Z' }],
  ['expires later in another time zone', { expiration: '2026-03-01T13:00:01+01:00' }],
  ['has an empty expiration', { expiration: '' }],
]
for (const [why, data] of accepted) {
  test(`A-32: a token that ${why} is accepted`, () => {
    assert.equal(judgeBootstrapToken(token, secret({ ...good, ...data }), now).ok, true)
  })
}

const refused: [why: string, object: Secret | undefined, reason: RegExp][] = [
  ['has no Secret', undefined, /no Secret/],
  [
    'is being deleted',
    secret(good, {
      metadata: { name: 'bootstrap-token-abcdef', deletionTimestamp: '2026-03-01T11:00:00Z' },
    }),
    /awaiting removal/,
  ],
  ['is of another type', secret(good, { type: 'Opaque' }), /not of type/],
  ['has no data', { ...secret(good), data: undefined } as unknown as Secret, /not of type/],
  ['has another secret', secret({ ...good, 'token-secret': '0123456789abcdeg' }), /token-secret differs/],
  ['has a shorter secret', secret({ ...good, 'token-secret': '0123456789abcde' }), /token-secret differs/],
  ['has a longer secret', secret({ ...good, 'token-secret': '0123456789abcdef0' }), /token-secret differs/],
  ['has no secret', secret({ ...good, 'token-secret': '' }), /token-secret differs/],
  ['lies under another name', secret({ ...good, 'token-id': 'abcdeg' }), /token-id differs/],
  ['expires right now', secret({ ...good, expiration: '2026-03-01T12:00:00Z' }), /expired/],
  ['expired before', secret({ ...good, expiration: '2026-03-01T11:59:59Z' }), /expired/],
  ['expires at no time', secret({ ...good, expiration: 'tomorrow' }), /expired/],
  ['expires on a day that is not', secret({ ...good, expiration: '2027-02-30T12:00:00Z' }), /expired/],
  ['expires without a zone', secret({ ...good, expiration: '2027-02-03T12:00:00' }), /expired/],
  [
    'is for signing only',
    secret({ ...good, 'usage-bootstrap-authentication': 'false' }),
    /usage-bootstrap-authentication/,
  ],
  [
    'says True',
    secret({ ...good, 'usage-bootstrap-authentication': 'True' }),
    /usage-bootstrap-authentication/,
  ],
  [
    'asks for system:masters',
    secret({ ...good, 'auth-extra-groups': 'system:masters' }),
    /auth-extra-groups/,
  ],
  [
    'has one bad group among good ones',
    secret({ ...good, 'auth-extra-groups': 'system:bootstrappers:a,system:nodes' }),
    /system:nodes is not/,
  ],
  [
    'has a space after the comma',
    secret({ ...good, 'auth-extra-groups': 'system:bootstrappers:a, system:bootstrappers:b' }),
    /auth-extra-groups/,
  ],
  [
    'has a group that ends in a colon',
    secret({ ...good, 'auth-extra-groups': 'system:bootstrappers:a:' }),
    /auth-extra-groups/,
  ],
  [
    'has a group in upper case',
    secret({ ...good, 'auth-extra-groups': 'system:bootstrappers:A' }),
    /auth-extra-groups/,
  ],
  [
    'has a group of two lines',
    secret({ ...good, 'auth-extra-groups': 'system:bootstrappers:a\n' }),
    /auth-extra-groups/,
  ],
]
for (const [why, object, reason] of refused) {
  test(`A-32: a token that ${why} is refused`, () => {
    const verdict = judgeBootstrapToken(token, object, now)
    assert.equal(verdict.ok, false)
    assert.match(verdict.ok ? '' : verdict.reason, reason)
    assert.doesNotMatch(verdict.ok ? '' : verdict.reason, /0123456789/)
  })
}

for (const text of [
  'abcdef',
  'abcdef.0123456789abcde',
  'Abcdef.0123456789abcdef',
  'abcdef.0123456789abcdef\n',
]) {
  test(`A-32: ${JSON.stringify(text)} is no bootstrap token`, () => {
    assert.equal(parseBootstrapToken(text), undefined)
  })
}
