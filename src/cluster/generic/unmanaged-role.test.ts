import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Lease, resources } from '../../kube/types.ts'
import { step } from '../../rollover/step.ts'
import { minutes, planIn } from '../../rollover/testing/quiet-cluster.ts'
import { onCluster } from '../../testing/controlled-cluster.ts'
import type { GenericControl } from './generic-control.ts'
import { unmanagedAdapter } from './unmanaged-role.ts'

test(
  'a rotation of a role that the file does not name is told why, does nothing, and ends Aborted',
  onCluster(async ({ admin, clock }) => {
    const lease: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'rollcall-controller', namespace: 'kube-system' },
      spec: { holderIdentity: 'me' },
    }
    await admin.create(resources.leases, lease)
    const control = { client: admin, identity: 'me', clock } as unknown as GenericControl
    for (const [role, why] of [
      ['kubelet-serving', /API servers that nothing here can try/],
      ['client', /names no CA of client/],
    ] as const) {
      const plan = { ...planIn('Preflight', { role }), phaseSince: clock.now(), fencing: 1 }
      const facts = await unmanagedAdapter(role, control).gather(plan)
      const now = step(plan, { ...facts, gatheredAfter: plan.sequence })
      const [first] = now.blockers
      assert.equal(first?.code, 'RoleUnmanaged')
      assert.match(`${first?.message}`, why)
      assert.deepEqual(now.effects, [])
      const later = { ...facts, gatheredAfter: plan.sequence, now: clock.now() + 16 * minutes }
      assert.equal(step(plan, later).phase, 'Aborted')
    }
  }),
)
