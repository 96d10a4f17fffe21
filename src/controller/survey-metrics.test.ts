import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { resources } from '../kube/types.ts'
import { calm, onCluster } from '../testing/controlled-cluster.ts'

const client = 'signer="kubernetes.io/kube-apiserver-client-kubelet"'
const serving = 'signer="kubernetes.io/kubelet-serving"'

function reader(metrics: Registry) {
  return async (series: string) => {
    const lines = (await metrics.metrics()).split('\n')
    const found = lines.filter(line => line.startsWith(`${series} `) || line.startsWith(`${series}{`))
    return found.length === 1 ? Number(found[0]?.split(' ').at(-1)) : found.length > 1 ? found : undefined
  }
}

test(
  'certificates are known beyond their requests, until they lapse and the Node goes',
  onCluster(async cluster => {
    const metrics = new Registry()
    const value = reader(metrics)
    await cluster.start({ metrics })
    await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    const ends = cluster.clock.now() / 1000 + 86_400
    const of = (kind: string, state: string) =>
      value(`rollcall_node_certificates{kind="${kind}",state="${state}"}`)
    assert.deepEqual([await of('client', 'valid'), await of('serving', 'unknown')], [1, 1])
    const earliest = 'rollcall_node_certificate_earliest_expiry_timestamp_seconds'
    assert.ok(Math.abs(Number(await value(`${earliest}{kind="client"}`)) - ends) < 600)
    assert.equal(await value(`${earliest}{kind="serving"}`), undefined)

    await cluster.clock.advance(3 * 3_600_000)
    await calm()
    assert.equal(await value(`rollcall_csr_stored{${client},state="issued"}`), 0)
    assert.equal(await value('rollcall_csr_cleaned_total{state="issued"}'), 1)
    assert.equal(await of('client', 'valid'), 1)
    await cluster.clock.advance(22 * 3_600_000)
    assert.equal(await of('client', 'expired'), 1)
    await cluster.admin.delete(resources.nodes, { name: 'a' })
    await calm()
    assert.deepEqual([await of('client', 'expired'), await value('rollcall_nodes')], [0, 0])
  }),
)

test(
  'who waits, who was refused, and how long issuance took',
  onCluster(async cluster => {
    const metrics = new Registry()
    const value = reader(metrics)
    await cluster.start({ metrics, approvalPolicy: undefined })
    await cluster.ask({ by: cluster.bootstrapper, node: 'a' })
    assert.equal(await value(`rollcall_certificate_issuance_seconds_count{${client}}`), 1)
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.2'] })
    await cluster.clock.advance(400_000)
    assert.equal(await value(`rollcall_csr_pending_age_seconds{${serving}}`), 400)
    assert.equal(await value(`rollcall_csr_pending{${serving},age="5m_to_1h"}`), 1)
    assert.equal(await value('rollcall_csr_rejected_recently'), undefined)
    await cluster.decide(name, 'Denied', 'SanUnproven')
    assert.equal(await value(`rollcall_csr_pending_age_seconds{${serving}}`), 0)
    const refused = `rollcall_csr_rejected_recently{${serving},condition="Denied",reason="SanUnproven"}`
    assert.equal(await value(refused), 1)
    await cluster.clock.advance(900_000)
    assert.equal(await value(refused), undefined)
  }),
)

test(
  'only the leader has numbers of the cluster',
  onCluster(async cluster => {
    const [first, second] = [new Registry(), new Registry()]
    const election = (identity: string) => ({
      leaderElection: { identity, namespace: 'kube-system', name: 'rollcall' },
    })
    const leader = await cluster.start({ metrics: first, ...election('one') })
    await cluster.start({ metrics: second, ...election('two') })
    const runs = 'rollcall_controller_running{controller="approval"}'
    const seen = async () => [
      await reader(first)(runs),
      await reader(first)('rollcall_nodes'),
      await reader(second)(runs),
      await reader(second)('rollcall_nodes'),
    ]
    assert.deepEqual(await seen(), [1, 0, 0, undefined])
    await leader.stop()
    await cluster.clock.advance(10_000)
    await calm()
    assert.deepEqual(await seen(), [0, undefined, 1, 0])
  }),
)
