import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificatePolicy } from '../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies } from '../kube/rollcall/certificate-policy.ts'
import { startControlledCluster } from '../testing/controlled-cluster.ts'
import { flakyClient } from '../testing/flaky-client.ts'
import { seededRandom } from '../testing/seeded-random.ts'

for (const seed of [1, 2, 3, 4, 5])
  test(`with a third of all calls failing, by each error of an API and by its connection, honest nodes get their certificates and thieves none (seed ${seed})`, async () => {
    const cluster = await startControlledCluster()
    const signed = new Set<string>()
    const ledger = {
      record: async ({ fingerprint }: { fingerprint: string }) => void signed.add(fingerprint),
    }
    const client = flakyClient(cluster.controllerClient, seededRandom(seed), 1 / 3, 'all')
    // In half of the worlds the policy has to be read through the same client.
    const fromCluster = seed % 2 === 0
    if (fromCluster)
      await cluster.admin.create(certificatePolicies, {
        apiVersion: 'rollcall.dev/v1alpha1',
        kind: 'CertificatePolicy',
        metadata: { name: 'default' },
        spec: { evidence: 'NodeStatus', lifetime: { maxSeconds: 7200 } },
      } as CertificatePolicy)
    await cluster.start({
      client,
      ledger,
      only: ['approval', 'signing'],
      ...(fromCluster && { approvalPolicy: undefined }),
    })
    const honest: string[] = []
    const thieves: string[] = []
    for (let number = 1; number <= 5; number++) {
      const name = `n${number}`
      honest.push(await cluster.ask({ by: cluster.bootstrapper, node: name }))
      const address = `10.0.0.${number}`
      const by = await cluster.node(name)
      honest.push(await cluster.ask({ by, node: name, ips: [address] }))
      await cluster.register(name, [['InternalIP', address]])
      if (number > 1) thieves.push(await cluster.ask({ by, node: name, ips: ['10.0.0.1'] }))
      await cluster.clock.advance(5_000)
    }
    await cluster.clock.advance(280_000)
    client.faults = 0
    await cluster.clock.advance(600_000)
    for (const name of honest) assert.match(await cluster.fate(name), /^Approved \w+, issued$/)
    for (const name of thieves) assert.equal(await cluster.fate(name), 'Denied OwnedByOtherNode')
    assert.ok(signed.size >= honest.length)
    await cluster.close()
    assert.equal(cluster.clock.pending(), 0, 'timers are left')
  })

test('the same seed gives the same log, faults and all', async () => {
  const run = async () => {
    const cluster = await startControlledCluster()
    const client = flakyClient(cluster.controllerClient, seededRandom(6), 1 / 4, 'all')
    await cluster.start({ client })
    for (const node of ['a', 'b', 'c']) await cluster.ask({ by: cluster.bootstrapper, node })
    await cluster.clock.advance(120_000)
    await cluster.close()
    return [cluster.log.lines, cluster.log.fields]
  }
  assert.deepEqual(await run(), await run())
})
