import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient, type KubeClient } from '../kube/client.ts'
import type { CertificatePolicy, CertificatePolicySpec } from '../kube/rollcall/certificate-policy/spec.ts'
import type { KubeObject } from '../kube/types.ts'
import { collectionServer } from '../testing/collection-server.ts'
import { createManualClock, settle } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { policiesFromCluster } from './policy-from-cluster.ts'

/** A real cluster takes what fits the schema; what the schema cannot say is found when it is loaded. */
function follow() {
  const server = collectionServer('/apis/rollcall.dev/v1alpha1/certificatepolicies')
  const clock = createManualClock(Date.parse('2026-03-01T12:00:00Z'))
  const log = recordingLog()
  const written: CertificatePolicy[] = []
  const update: KubeClient['update'] = async <T extends KubeObject>(_resource: unknown, object: T) => {
    written.push(structuredClone(object) as unknown as CertificatePolicy)
    return object
  }
  const client: KubeClient = { ...createClient(server), update }
  let changes = 0
  const start = () =>
    policiesFromCluster({ client, clock, random: seededRandom(1), log })(() => void changes++)
  const put = async (spec: CertificatePolicySpec, name = 'default') => {
    server.put(name, { spec })
    for (let turn = 0; turn < 20; turn++) await settle()
  }
  return { server, clock, log, written, start, put, changes: () => changes }
}

test('a version that cannot be used leaves the last good one in force, and the status names the field', async () => {
  const { put, start, written, log, clock } = follow()
  await put({ evidence: 'NodeStatus' })
  const policies = start()
  await policies.settled
  await settle()
  await put({ preset: 'strict', pools: [{ name: 'a', nodeLabels: { zone: 'b' } }] })
  assert.equal(policies.inForce()?.policy.evidence, 'NodeStatus')
  const [accepted, inForce] = written.at(-1)?.status?.conditions ?? []
  assert.match(
    `${accepted?.status} ${accepted?.reason} ${accepted?.message}`,
    /^False Invalid spec\.pools\[0\]\.nodeLabels\.zone: pool "a" selects by label "zone", which a node can change/,
  )
  assert.equal(`${inForce?.status} ${inForce?.reason}`, 'True LastGood')
  assert.match(log.lines.join('\n'), /error: a policy cannot be used, its last good version goes on to count/)
  await put({ preset: 'inventory' })
  assert.equal(policies.inForce()?.policy.evidence, 'Inventory')
  await policies.stop()
  assert.equal(clock.pending(), 0)
})

test('attack: a policy with more wrong in it than a condition has room for is told of in part', async () => {
  const { put, start, written } = follow()
  const label = 'l'.repeat(10_000)
  const pools = Array.from({ length: 60 }, (_, n) => ({ name: `p${n}`, nodeLabels: { [label]: 'x' } }))
  await put({ preset: 'lab', pools })
  const policies = start()
  await policies.settled
  for (let turn = 0; turn < 20; turn++) await settle()
  const message = written.at(-1)?.status?.conditions?.[0]?.message ?? ''
  assert.ok(message.length > 1000 && message.length < 32_768, `${message.length} characters`)
  assert.ok((policies.unusable() ?? '').length < 1200)
  await policies.stop()
})

test('while it is not known whether there is a policy, nothing is said about there being none', async () => {
  const { server, put, start, log, clock } = follow()
  server.fault = 500
  const policies = start()
  let settled = false
  void policies.settled.then(() => {
    settled = true
  })
  await clock.advance(5000)
  assert.equal(settled, false)
  server.fault = undefined
  await put({ evidence: 'NodeStatus' })
  await clock.advance(30_000)
  assert.equal(settled, true)
  assert.equal(policies.inForce()?.policy.evidence, 'NodeStatus')
  assert.doesNotMatch(log.lines.join('\n'), /no CertificatePolicy/)
  await policies.stop()
})

test('a kind that is not served is no policy, which is told, and heeded from when it is', async () => {
  const { server, put, start, log, clock } = follow()
  server.fault = 404
  const policies = start()
  await policies.settled
  assert.match(log.lines.join('\n'), /warn: no CertificatePolicy named default/)
  server.fault = undefined
  await put({ evidence: 'NodeStatus' })
  await clock.advance(31_000)
  assert.equal(policies.inForce()?.policy.evidence, 'NodeStatus')
  await policies.stop()
})

test('attack: policies that may not be read any more are no missing policy: nothing is decided until they can be', async () => {
  const { server, start, log, clock, changes } = follow()
  server.fault = 403
  const policies = start()
  await policies.settled
  assert.match(policies.unusable() ?? '', /^certificatepolicies may not be read: /)
  assert.match(log.lines.join('\n'), /error: certificatepolicies may not be read/)
  assert.doesNotMatch(log.lines.join('\n'), /no CertificatePolicy named default/)
  const before = changes()
  server.fault = undefined
  await clock.advance(31_000)
  assert.deepEqual(
    [policies.inForce(), policies.unusable()],
    [undefined, undefined],
    'it is known that there is none',
  )
  assert.ok(changes() > before, 'requests that waited are judged again')
  await policies.stop()
  assert.equal(clock.pending(), 0)
})

test('attack: the right to read policies is taken away while one is in force: it stays', async () => {
  const { server, put, start, clock } = follow()
  await put({ preset: 'strict' })
  const policies = start()
  await policies.settled
  await settle()
  server.fault = 403
  server.endWatches()
  await clock.advance(120_000)
  assert.equal(policies.inForce()?.policy.evidence, 'ProtectedNodeStatus')
  await policies.stop()
})
