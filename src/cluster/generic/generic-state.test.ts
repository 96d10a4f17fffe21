import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '../../kube/types.ts'
import { onCluster } from '../../testing/controlled-cluster.ts'
import { changeState, readState } from './generic-state.ts'

test(
  'an order of a former leader, or of an older step, changes nothing; what was spoiled by hand is the first state',
  onCluster(async ({ admin }) => {
    const to = (authority: number) => () => ({ sign: { authority, mode: 'bare' as const } })
    const signs = async () => (await readState(admin)).roles.client.sign.authority
    await changeState(admin, 'client', { token: 2, sequence: 7 }, to(2))
    await changeState(admin, 'client', { token: 1, sequence: 9 }, to(3))
    await changeState(admin, 'client', { token: 2, sequence: 6 }, to(4))
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
