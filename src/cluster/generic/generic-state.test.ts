import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { type CARotationObject, caRotation } from '../../kube/rollcall/ca-rotation.ts'
import { resources } from '../../kube/types.ts'
import { onCluster } from '../../testing/controlled-cluster.ts'
import { changeState, readState, stateConfigMap } from './generic-state.ts'

test(
  'an order of a former leader, or of an older step, changes nothing; what was spoiled before any rotation is the first state',
  onCluster(async ({ admin }) => {
    const to = (authority: number) => () => ({ sign: { authority, mode: 'bare' as const } })
    const signs = async () => (await readState(admin)).roles.client.sign.authority
    await changeState(admin, 'client', { token: 2, sequence: 7 }, to(2))
    for (const fence of [
      { token: 1, sequence: 9 },
      { token: 2, sequence: 6 },
    ])
      await assert.rejects(changeState(admin, 'client', fence, to(3)), error => hasCode(error, 'NOT_LEADING'))
    assert.equal(await signs(), 2)
    await changeState(admin, 'client', { token: 3, sequence: 1 }, to(5))
    assert.equal(await signs(), 5)
    assert.equal(
      (await readState(admin)).roles['apiserver-serving'].sign.authority,
      1,
      'the other role is its own',
    )
    const { object } = await readState(admin)
    assert(object)
    const data = { ...object.data, client: '{' }
    await admin.update(resources.configMaps, { ...object, data })
    assert.equal(await signs(), 1)
  }),
)

test(
  'a state that was lost after a rotation is not taken for the first one: a CA that was dropped neither signs nor is published again',
  onCluster(async ({ admin }) => {
    await changeState(admin, 'client', { token: 1, sequence: 1 }, () => ({ bundle: 3 }))
    const rotation = await admin.create<CARotationObject>(caRotation.ref, {
      apiVersion: 'rollcall.dev/v1alpha1',
      kind: 'CARotation',
      metadata: { name: 'stolen' },
      spec: { role: 'client', reason: 'Compromise', from: 1, to: 2, author: 'admin' },
    })
    const begun = { ...rotation, status: { phase: 'Done', sequence: 9 } } as const
    await admin.update<CARotationObject>(caRotation.ref, begun, { subresource: 'status' })
    const lost = { code: 'ROLLOVER_STATE_LOST', message: /stolen/ }
    const target = stateConfigMap
    await admin.patch(resources.configMaps, target, 'merge', { data: { client: '{' } })
    await assert.rejects(readState(admin), lost)
    await admin.delete(resources.configMaps, target)
    await assert.rejects(readState(admin), lost)
    await assert.rejects(
      changeState(admin, 'client', { token: 9, sequence: 9 }, () => ({})),
      lost,
    )
    const data = { client: '{"bundle":3}' }
    await admin.create(resources.configMaps, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: target,
      data,
    })
    assert.equal((await readState(admin)).roles.client.bundle, 3)
  }),
)
