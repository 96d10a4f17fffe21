/**
 * The nine simplifications that look harmless (ca-rotation 3.11). Each lies to the production step, or carries its orders
 * out as a simpler design would; the model has to catch every one.
 */
import type { Order } from '../effects/effect.ts'
import type { ConsumerFacts, Observations, ProofFacts } from '../observations.ts'
import type { World } from './world.ts'

export interface Mutation {
  sees(seen: Observations, world: World): Observations
  orders(orders: readonly Order[], changed: boolean, world: World): readonly Order[]
  /** Consumers take older bundles too. */
  nonMonotonic: boolean
}

/** The design as it is. */
export const none: Mutation = {
  sees: seen => seen,
  orders: orders => orders,
  nonMonotonic: false,
}

const consumersAs = (change: (consumer: ConsumerFacts, world: World) => ConsumerFacts): Mutation => ({
  ...none,
  sees: (seen, world) => ({ ...seen, consumers: seen.consumers.map(consumer => change(consumer, world)) }),
})

const proofOf = (consumer: ConsumerFacts, world: World, generation: number): ProofFacts => ({
  level: 3,
  generation,
  instance: consumer.instance,
  at: world.now + world.clockError,
  authorities: [world.store.plan.to, world.store.plan.from],
})

export const mutations = {
  /** M0: seeds first, and bundles may go back. */
  nonMonotonic: {
    ...none,
    nonMonotonic: true,
    orders(orders, _changed, world) {
      const publishing = orders.find(({ effect }) => effect.kind === 'publish-bundle')
      if (publishing?.effect.kind !== 'publish-bundle') return orders
      const { effect } = publishing
      const seeds = world.sinks.filter(({ seed, generation }) => seed && generation < effect.generation)
      return [...seeds.map(({ id }) => ({ ...publishing, effect: { ...effect, sink: id } })), ...orders]
    },
  },
  /** M1: no gate before the switch (OCPBUGS-25821). */
  noGate: consumersAs((consumer, world) => {
    return { ...consumer, proof: proofOf(consumer, world, world.store.plan.bundle ?? 0) }
  }),
  /** M2: written to disk is taken for loaded (rancher#18805). */
  writtenIsLoaded: consumersAs((consumer, world) => {
    return consumer.onDisk === undefined
      ? consumer
      : { ...consumer, proof: proofOf(consumer, world, consumer.onDisk) }
  }),
  /** M3: who joined after the beginning does not count (gardener#15301). */
  snapshotOfConsumers: {
    ...none,
    sees: (seen, world) => {
      const late = new Set(world.members.filter(({ id }) => id.startsWith('joiner')).map(({ id }) => id))
      return { ...seen, consumers: seen.consumers.filter(({ id }) => !late.has(id)) }
    },
  },
  /** M4: who is away does not count. */
  offlineIgnored: {
    ...none,
    sees: (seen, world) => {
      const away = new Set(world.members.filter(({ online }) => !online).map(({ id }) => id))
      const consumers = seen.consumers.map(one => (away.has(one.id) ? { ...one, roles: [] } : one))
      return { ...seen, consumers }
    },
  },
  /** M5: what an earlier process proved counts for the present one. */
  proofOfAnyInstance: consumersAs(consumer => {
    const { proof, instance } = consumer
    return proof === undefined ? consumer : { ...consumer, proof: { ...proof, instance } }
  }),
  /** M6: the old CA goes without a look at who still holds its leaves (linkerd#4287). */
  noLiveGate: {
    ...none,
    sees: seen => ({ ...seen, leaves: { ...seen.leaves, holders: new Map() } }),
  },
  /** M7: effects follow a recorded change once, and are not said again (strimzi#8401). */
  notReapplied: {
    ...none,
    orders: (orders, changed) => (changed ? orders : []),
  },
  /** M8: what future machines start with is forgotten. */
  seedsForgotten: {
    ...none,
    sees: (seen, { store }) => {
      const bundle = store.plan.bundle ?? 0
      const { from, to } = store.plan
      const claim = { generation: 1000, anchors: [from, to] }
      return {
        ...seen,
        sinks: seen.sinks.map(sink => (sink.seed && bundle > 0 ? { ...sink, ...claim } : sink)),
      }
    },
  },
} as const satisfies Record<string, Mutation>

export type MutationName = keyof typeof mutations
