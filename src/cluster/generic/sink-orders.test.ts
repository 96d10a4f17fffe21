import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { resources } from '../../kube/types.ts'
import { onCluster } from '../../testing/controlled-cluster.ts'
import { changeState, readState, stateConfigMap } from './generic-state.ts'
import { publishInSink, type SinkOrders } from './sink-orders.ts'

test(
  'who led before and wakes amid an order writes no place: not even one whose bundle is older than what stands',
  onCluster(async ({ admin, clock }) => {
    const role = 'apiserver-serving'
    let held = 'bundle 3'
    const roles = { ...(await readState(admin)).roles }
    const orders = {
      clock,
      sinks: [
        {
          ...{ id: 'place', role, seed: false },
          read: async () => [held],
          async write(pem: string) {
            held = pem
          },
        },
      ],
      state: () => roles[role],
      async change(fence, change) {
        roles[role] = (await changeState(admin, role, fence, change)).roles[role]
      },
      pem: (generation: number) => `bundle ${generation}`,
    } as Pick<SinkOrders, 'clock' | 'sinks' | 'state' | 'change' | 'pem'> as SinkOrders
    Object.assign(orders, { file: { sinks: [] } })
    await changeState(admin, role, { token: 2, sequence: 5 }, () => ({ sinks: { place: 3 }, bundle: 3 }))
    const before = await admin.get(resources.configMaps, stateConfigMap)
    const late = publishInSink('place', 2, { token: 1, sequence: 9 }, orders)
    await assert.rejects(late, error => hasCode(error, 'NOT_LEADING'))
    assert.equal(held, 'bundle 3')
    assert.deepEqual(await admin.get(resources.configMaps, stateConfigMap), before)
    await publishInSink('place', 4, { token: 2, sequence: 6 }, orders)
    assert.equal(held, 'bundle 4')
  }),
)
