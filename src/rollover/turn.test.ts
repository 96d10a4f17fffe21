import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Order } from './effects/effect.ts'
import type { Plan } from './plan.ts'
import { planIn, quiet } from './testing/quiet-cluster.ts'
import { type PlanStore, type RolloverAdapter, takeTurn } from './turn.ts'

const stale = quiet().sinks.map(sink => ({ ...sink, seed: false, generation: 1, anchors: [1] }))

function desk(plan: Plan, said: string[]) {
  const store: PlanStore & { plan: Plan } = {
    plan,
    read: async () => ({ plan: store.plan, version: '7' }),
    async write(step) {
      said.push(`store ${step.plan.phase}`)
      store.plan = step.plan
      return true
    },
  }
  const adapter: RolloverAdapter = {
    gather: async () => quiet({ sinks: stale }),
    async carryOut({ effect, sequence }: Order) {
      said.push(`${effect.kind} ${sequence}`)
    },
  }
  return { store, adapter }
}

test('the plan is stored before anything is ordered, and an unchanged one is not stored', async () => {
  const said: string[] = []
  const { store, adapter } = desk(planIn('Prepared', { sequence: 10 }), said)
  await takeTurn(store, adapter)
  assert.deepEqual(said, ['store Distributing', 'publish-bundle 11', 'publish-bundle 11'])
  await takeTurn(store, adapter)
  assert.deepEqual(said.slice(3), ['publish-bundle 11', 'publish-bundle 11'])
})

test('who comes second at the store orders nothing', async () => {
  const said: string[] = []
  const { store, adapter } = desk(planIn('Prepared'), said)
  const turn = await takeTurn({ ...store, write: async () => false }, adapter)
  assert.deepEqual([turn.stored, said], [false, []])
})

test('a place that is down holds up no other, and is told', async () => {
  const said: string[] = []
  const { store, adapter } = desk(planIn('Distributing', { bundle: 2, serverBundle: 2 }), said)
  const carryOut = async (order: Order) => {
    if (order.effect.kind === 'publish-bundle' && order.effect.sink === 'kube-root-ca.crt')
      throw new Error('down')
    await adapter.carryOut(order)
  }
  const { failures } = await takeTurn(store, { ...adapter, carryOut })
  assert.deepEqual(said, ['publish-bundle 10'])
  assert.deepEqual(
    failures.map(({ order, error }) => [order.effect.kind, String(error)]),
    [['publish-bundle', 'Error: down']],
  )
})
