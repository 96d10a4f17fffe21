import assert from 'node:assert/strict'
import { test } from 'node:test'
import { caRotation } from '../kube/rollcall/ca-rotation.ts'
import { trustBundle } from '../kube/rollcall/trust-bundle.ts'
import { trustConsumer } from '../kube/rollcall/trust-consumer.ts'
import type { ConsumerFacts } from '../rollover/observations.ts'
import { bundleObject } from '../trust/bundle-object.ts'
import { encodeBundle } from '../trust/bundle-text.ts'
import { consumerObject } from '../trust/consumer-object.ts'
import { authority } from '../trust/testing/ceremony-table.ts'
import { onShownCluster } from './testing/shown-cluster.ts'

test(
  'who has answered is who proved a bundle that holds the CA that comes, whatever number the bundle has',
  onShownCluster(async ({ call, login, admin, clock }) => {
    const now = clock.now()
    const role = 'client'
    const [old, next] = await Promise.all([authority(1, 'kubernetes'), authority(2, 'rollcall-client-ca-2')])
    const times = { notBefore: now - 1000, notAfter: now + 86_400_000 }
    // Nobody who looks verifies it; consumers do.
    const signatures = [{ keyId: 'ab'.repeat(32), signature: new Uint8Array(64) }]
    const put = async (generation: number, ...anchors: (typeof old)[]) => {
      const der = anchors.map(({ certificate }) => certificate.raw)
      const content = encodeBundle({ cluster: 'c', role, generation, anchors: der, ...times })
      await admin.create(trustBundle.ref, bundleObject({ content, signatures }, 'Steady'))
    }
    await put(1, old, next)
    await put(7, old)
    const spec = { role, reason: 'Scheduled', from: 1, to: 2, author: 'admin' }
    await admin.create(caRotation.ref, {
      apiVersion: 'rollcall.dev/v1alpha1',
      kind: 'CARotation',
      metadata: { name: 'client-2' },
      spec,
    } as never)
    const consumer = async (id: string, generation: number) => {
      const proof = { level: 3, authorities: [1, 2], generation, instance: 'boot-1', at: now } as const
      const facts: ConsumerFacts = {
        id,
        kind: 'Agent',
        roles: [role],
        instance: 'boot-1',
        lastSeen: now,
        orderable: true,
        reloads: true,
        proof,
        node: id.slice('agent/'.length),
      }
      const { status, ...object } = consumerObject(facts, role, 'Live')
      const stored = await admin.create(trustConsumer.ref, object)
      await admin.update(trustConsumer.ref, { ...stored, status } as never, { subresource: 'status' })
    }
    await consumer('agent/a', 1)
    await consumer('agent/b', 7)
    const { body } = await call('rotations', { token: await login('admin', 'system:masters') })
    const [rotation] = body.rotations as { consumers: { id: string; answered: boolean; why: string }[] }[]
    assert.deepEqual(rotation?.consumers.map(({ id, answered }) => [id, answered]).sort(), [
      ['agent/a', true],
      ['agent/b', false],
    ])
    assert.equal(rotation?.consumers.find(({ id }) => id === 'agent/b')?.why, 'loads it when told to')
  }),
)
