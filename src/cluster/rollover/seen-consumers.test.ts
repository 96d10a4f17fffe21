import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemRandom } from '../../host/random.ts'
import { generateSigner } from '../../keys/private-key.ts'
import { selfSignedCa } from '../../keys/self-signed.ts'
import type { Peer } from '../../kube/transport.ts'
import type { UserInfo } from '../../kube/types.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { canaryUser, SeenConsumers } from './seen-consumers.ts'

const now = 1_767_225_600_000
const from = (remoteAddress: string, chain: string): Peer => ({ remoteAddress, chain })
const robot: UserInfo = { username: 'system:serviceaccount:build:robot', groups: [] }
const pod: UserInfo = {
  username: 'system:serviceaccount:web:default',
  groups: [],
  extra: {
    'authentication.kubernetes.io/pod-name': ['web-0'],
    'authentication.kubernetes.io/pod-uid': ['7c1e'],
  },
}
const seen = () => new SeenConsumers(() => undefined)

test('a user who comes as ever new programs fills neither the memory nor the list of consumers', () => {
  const consumers = seen()
  for (let index = 0; index < 5000; index++)
    consumers.request(robot, from('10.0.0.7', '2/bare'), `program-${index}/1.0`, now)
  assert.equal(consumers.strangers.size, 257)
  const others = consumers.strangers.get('user/system:serviceaccount:build:robot elsewhere')
  assert.ok(others)
  assert.equal(others.handshakes.size, 0, 'one program of many has proven for all of them')
  // Nobody else is counted with it.
  consumers.request({ username: 'admin', groups: [] }, from('10.0.0.8', '2/bare'), 'kubectl/1.36', now)
  assert.ok(consumers.strangers.get('user/admin at 10.0.0.8 by kubectl')?.handshakes.has(2))
})

test('who is remembered from before a restart has proven nothing until it comes again', () => {
  const before = seen()
  before.request(robot, from('10.0.0.7', '2/bare'), 'curl/8', now)
  before.request(pod, from('10.1.0.4', '2/bare'), 'python/3', now)
  const after = seen()
  for (const known of before.strangers.values()) after.remember(known)
  assert.deepEqual(
    [...after.strangers.values()].map(({ id, uid, handshakes }) => [id, uid, handshakes.size]),
    [
      ['user/system:serviceaccount:build:robot at 10.0.0.7 by curl', undefined, 0],
      ['pod/web-0 7c1e', '7c1e', 0],
    ],
  )
  after.request(pod, from('10.1.0.4', '2/bare'), 'python/3', now + 1)
  assert.deepEqual(after.unproven('10.1.0.4', 2), [])
  after.forget('pod/web-0 7c1e')
  assert.equal(after.strangers.size, 1)
})

test('an identity that is too long for a TrustConsumer is shortened, and stays apart from others', () => {
  const consumers = seen()
  for (const end of ['a', 'b'])
    consumers.request({ username: 'x'.repeat(600) + end, groups: [] }, from('::1', '1/old'), 'curl', now)
  const ids = [...consumers.strangers.keys()]
  assert.equal(new Set(ids).size, 2)
  for (const id of ids) assert.ok(id.length <= 512)
})

test('what the control plane tries itself is no use of a CA, and nobody who could be asked', async () => {
  const { consumers, leaf } = await withLeaf('rollcall:canary')
  consumers.request(
    { username: canaryUser, groups: [] },
    { ...from('127.0.0.1', '2/bare'), certificates: [leaf] },
    undefined,
    now,
  )
  assert.deepEqual([consumers.strangers.size, consumers.clientUse.size, consumers.presented.size], [0, 0, 0])
})

test('a client certificate is known by its holder; of many behind one address a refusal is put down to those who have not proven', async () => {
  const { consumers, leaf } = await withLeaf('anna')
  const anna: UserInfo = { username: 'anna', groups: [] }
  consumers.request(anna, { ...from('10.0.0.7', '1/old'), certificates: [leaf] }, 'kubectl/1.36', now)
  assert.deepEqual([...(consumers.clientUse.get(1) ?? [])], [['user/anna', now]])
  assert.deepEqual(
    [...consumers.presented.values()].map(({ user, authority }) => [user, authority]),
    [['anna', 1]],
  )
  consumers.request(robot, from('10.0.0.7', '2/bare'), 'curl/8', now)
  consumers.refused('10.0.0.7', 2, now + 1)
  const failures = () =>
    [...consumers.strangers.values()].map(({ lastFailure, handshakes }) => [lastFailure, handshakes.has(2)])
  assert.deepEqual(failures(), [
    [now + 1, false],
    [undefined, true],
  ])
  consumers.request(anna, { ...from('10.0.0.7', '2/bare'), certificates: [leaf] }, 'kubectl/1.36', now + 2)
  consumers.refused('10.0.0.7', 2, now + 3)
  assert.deepEqual(
    failures(),
    [
      [now + 3, false],
      [now + 3, false],
    ],
    'where all have proven it can be any of them',
  )
})

/** Consumers, and a certificate by CA 1 of them. */
async function withLeaf(commonName: string) {
  const signer = generateSigner('Ed25519', systemRandom)
  const times = { notBefore: now - 1000, notAfter: now + 86_400_000 }
  const pem = await selfSignedCa({ commonName, signer, random: systemRandom, ...times })
  const [certificate] = parseCertificatesPem(pem)
  assert.ok(certificate)
  return { consumers: new SeenConsumers(() => 1), leaf: certificate.raw }
}
