import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { createClient, isStatus } from '../kube/client.ts'
import { impersonating } from '../kube/impersonating-transport.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import { canaryGroup, canaryUser, runCanary } from '../survey/canary/run-canary.ts'
import { type ControlledCluster, calm, onCluster } from '../testing/controlled-cluster.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import type { ControllerName } from './controller-name.ts'
import { canaryRules } from './rbac.ts'

/** With the right that --canary needs, and no other. */
async function canaryOn(cluster: ControlledCluster) {
  await cluster.grant('canary', canaryRules)
  return createClient(impersonating(await cluster.transportAs('canary'), canaryUser, canaryGroup))
}

async function follow(
  { admin }: ControlledCluster,
  signal: AbortSignal,
  see: (csr: CertificateSigningRequest) => void,
) {
  const changes = admin.watch<CertificateSigningRequest>(resources.certificateSigningRequests, { signal })
  for await (const { object } of changes) see(object)
}

const left = async ({ admin }: ControlledCluster) =>
  (await admin.list<CertificateSigningRequest>(resources.certificateSigningRequests)).items.length

test(
  'a canary is approved and signed, for ten minutes and as a node alone, and leaves nothing behind',
  onCluster(async cluster => {
    const metrics = new Registry()
    const asNode = await canaryOn(cluster)
    const seen: CertificateSigningRequest[] = []
    const ending = new AbortController()
    const watching = follow(cluster, ending.signal, csr => seen.push(csr))
    await cluster.start({ metrics, canary: { asNode, intervalSeconds: 600 } })
    for (let second = 0; second < 5; second++) await cluster.clock.advance(1000)
    await calm()
    ending.abort()
    await watching
    const { spec, status } = seen.at(-1) ?? assert.fail('nothing was asked')
    assert.equal(spec.username, canaryUser)
    assert.equal(spec.expirationSeconds, 600)
    assert.ok(status?.certificate)
    assert.equal(await left(cluster), 0)
    const page = await metrics.metrics()
    assert.match(page, /rollcall_canary_failed\{stage="approval"\} 0\n/)
    assert.match(page, /rollcall_canary_failed\{stage="signing"\} 0\n/)
    assert.match(page, /rollcall_canary_last_success_timestamp_seconds \d{10}/)
  }),
)

for (const [stage, only] of [
  ['approval', ['signing']],
  ['signing', ['approval']],
] as const satisfies [string, ControllerName[]][]) {
  test(
    `without ${stage} the canary fails there`,
    onCluster(async cluster => {
      const metrics = new Registry()
      const asNode = await canaryOn(cluster)
      await cluster.start({ metrics, only, canary: { asNode, intervalSeconds: 600 } })
      assert.doesNotMatch(await metrics.metrics(), /rollcall_canary_failed\{/)
      for (let second = 0; second < 125; second++) await cluster.clock.advance(1000)
      await calm()
      const page = await metrics.metrics()
      assert.match(page, new RegExp(`rollcall_canary_failed\\{stage="${stage}"\\} 1\n`))
      assert.equal(page.match(/rollcall_canary_failed\{stage="\w+"\} 1/g)?.length, 1)
      assert.equal(await left(cluster), 0)
    }),
  )
}

test(
  'who may not act as the canary makes no request; and the right is for that one node',
  onCluster(async cluster => {
    const forbidden = (error: unknown) => isStatus(error, 'Forbidden')
    const { clock, controllerClient: client } = cluster
    const asNode = createClient(impersonating(await cluster.transportAs('canary'), canaryUser, canaryGroup))
    const run = () => runCanary({ asNode, client, clock, random: seededRandom(1), patience: 0 })
    await assert.rejects(run(), forbidden)
    assert.equal(await left(cluster), 0)
    await cluster.grant('canary', canaryRules)
    assert.equal((await run()).ended, 'undecided')
    const other = impersonating(await cluster.transportAs('canary'), 'system:node:a', canaryGroup)
    await assert.rejects(createClient(other).raw('/api'), forbidden)
  }),
)
