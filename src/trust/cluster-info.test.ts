import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import type { ConfigMap, Secret } from '../kube/types.ts'
import { bootstrapTokenType, tokenExpiry } from './bootstrap-token.ts'
import { signedClusterInfo } from './cluster-info.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const kubeconfig = 'apiVersion: v1\nkind: Config\n'

function token(id: string, changes: Record<string, string> = {}, name = `bootstrap-token-${id}`): Secret {
  const values = {
    'token-id': id,
    'token-secret': '0123456789abcdef',
    'usage-bootstrap-signing': 'true',
    ...changes,
  }
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  )
  const metadata = { name, namespace: 'kube-system' }
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: bootstrapTokenType, data }
}

function clusterInfo(data: Record<string, string>): ConfigMap {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'cluster-info', namespace: 'kube-public' },
    data,
  }
}

test('C-61: a signature is a detached JWS over the exact kubeconfig, keyed by the token', () => {
  const signature = signedClusterInfo(clusterInfo({ kubeconfig }), [token('abcdef')], now)?.data?.[
    'jws-kubeconfig-abcdef'
  ]
  const [header = '', middle, mac] = signature?.split('.') ?? []
  assert.equal(Buffer.from(header, 'base64url').toString(), '{"alg":"HS256","kid":"abcdef"}')
  assert.equal(middle, '')
  const payload = Buffer.from(kubeconfig).toString('base64url')
  const expected = createHmac('sha256', '0123456789abcdef').update(`${header}.${payload}`).digest('base64url')
  assert.equal(mac, expected)
})

test('C-61: signatures of other tokens go, what is right is not written again', () => {
  const stale = { kubeconfig, 'jws-kubeconfig-zzzzzz': 'old', note: 'kept' }
  const signed = signedClusterInfo(clusterInfo(stale), [token('abcdef')], now)
  assert.deepEqual(Object.keys(signed?.data ?? {}).sort(), ['jws-kubeconfig-abcdef', 'kubeconfig', 'note'])
  assert.equal(signedClusterInfo(signed ?? assert.fail(), [token('abcdef')], now), undefined)
})

test('C-61: without kubeconfig there is nothing to sign', () => {
  assert.equal(signedClusterInfo(clusterInfo({ other: 'x' }), [token('abcdef')], now), undefined)
})

for (const [what, secret] of [
  ['of another name', token('abcdef', {}, 'my-token')],
  ['whose id is not its name’s', token('abcdef', { 'token-id': 'fedcba' })],
  ['without a secret', token('abcdef', { 'token-secret': '' })],
  ['that has expired', token('abcdef', { expiration: '2026-03-01T12:00:00Z' })],
  ['whose expiration cannot be read', token('abcdef', { expiration: 'tomorrow' })],
  ['that may not sign', token('abcdef', { 'usage-bootstrap-signing': 'yes' })],
  ['of another type', { ...token('abcdef'), type: 'Opaque' }],
] as const)
  test(`C-61: a token ${what} signs nothing`, () =>
    assert.equal(signedClusterInfo(clusterInfo({ kubeconfig }), [secret], now), undefined))

test('C-60: a token without expiration is kept, one whose expiration cannot be read counts as expired', () => {
  assert.equal(tokenExpiry(token('abcdef')), undefined)
  assert.equal(tokenExpiry(token('abcdef', { expiration: '' })), undefined)
  assert.equal(tokenExpiry(token('abcdef', { expiration: '2026-03-01' })), 0)
  assert.equal(tokenExpiry(token('abcdef', { expiration: '2026-03-01T13:00:00+01:00' })), now)
})
