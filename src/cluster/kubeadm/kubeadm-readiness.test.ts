import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type TrustConsumerObject, trustConsumer } from '../../kube/rollcall/trust-consumer.ts'
import { newPlan, noWishes } from '../../rollover/plan.ts'
import { policyOf } from '../../rollover/policy.ts'
import { consumerReadiness } from '../../rollover/readiness.ts'
import { consumerOf } from '../../rollover/readiness-facts.ts'
import { writeConsumers } from '../rollover/consumer-writer.ts'
import { KubeadmAdapter } from './kubeadm-adapter.ts'
import { restartsSentence } from './named-restarts.ts'
import { kubeadmCluster } from './testing/kubeadm-cluster.ts'

test('before anything is begun readiness names who will load the CA, and whose process will be started anew', async () => {
  const under = await kubeadmCluster()
  await under.pass(3)
  const role = 'apiserver-serving'
  const { clock, reader, admin } = under.cluster
  const adapter = new KubeadmAdapter(under.control, role)
  const asked = { id: 'survey', role, reason: 'Scheduled', author: '', from: 1, to: 2 } as const
  const plan = newPlan({ ...asked, policy: policyOf(), wishes: noWishes, now: clock.now() })
  const { consumers: seen, bundles, now } = await adapter.gather(plan)
  await writeConsumers(role, seen, { reader, client: admin, clock })
  const { items } = await admin.list<TrustConsumerObject>(trustConsumer.ref)
  const consumers = items.map(item => consumerOf(item, role))
  const verdicts = new Map(
    consumerReadiness(plan, { consumers, bundles, now }).consumers.map(({ id, verdict }) => [id, verdict]),
  )
  assert.equal(verdicts.get('kube-scheduler/cp-1'), 'WillBeRestarted')
  assert.equal(verdicts.get('kube-controller-manager/cp-3'), 'WillBeRestarted')
  assert.equal(verdicts.get('controller'), 'WillLoad')
  assert.equal(
    adapter.restarts()[0],
    'cp-1: kube-apiserver once, kube-controller-manager 2 times, kube-scheduler 2 times',
  )
  assert.equal(
    restartsSentence('cp-9', { 'kube-apiserver': 0, 'kube-controller-manager': 0, 'kube-scheduler': 0 }),
    'cp-9: nothing',
  )
  await under.stop()
})
