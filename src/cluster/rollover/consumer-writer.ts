/** Keeps the TrustConsumer objects, which people and `rollcall trust ls` see, as the consumers are. */
import type { ObjectReader } from '../../apiserver/reader.ts'
import { isStatus, type KubeClient } from '../../kube/client.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { type TrustConsumerObject, trustConsumer } from '../../kube/rollcall/trust-consumer.ts'
import type { Clock } from '../../ports.ts'
import type { ConsumerFacts } from '../../rollover/observations.ts'
import { policyOf } from '../../rollover/policy.ts'
import { stateOf } from '../../rollover/standing.ts'
import { consumerObject, objectName } from '../../trust/consumer-object.ts'

/** Milliseconds after which a sign of life alone is written; of nodes, which have a Lease for that, and of strangers. */
const lifeEvery = { node: 60_000, stranger: 2000 }
const { timings } = policyOf()

export async function writeConsumers(
  role: TrustRole,
  consumers: readonly ConsumerFacts[],
  { reader, client, clock }: { reader: ObjectReader; client: KubeClient; clock: Clock },
): Promise<void> {
  for (const consumer of consumers) {
    if (!consumer.roles.includes(role)) continue
    const before = reader.get<TrustConsumerObject>(trustConsumer.ref, objectName(consumer.id))
    const state = stateOf(consumer, new Set(), clock.now(), timings)
    const next = consumerObject(consumer, role, state, before)
    if (before && isSame(before, next)) continue
    try {
      const { status, ...bare } = next
      const stored = before ?? (await client.create<TrustConsumerObject>(trustConsumer.ref, bare))
      if (before && JSON.stringify(before.spec) !== JSON.stringify(next.spec)) {
        const updated = await client.update<TrustConsumerObject>(trustConsumer.ref, next)
        await client.update(trustConsumer.ref, { ...updated, status }, { subresource: 'status' })
      } else
        await client.update(
          trustConsumer.ref,
          { ...next, metadata: stored.metadata },
          { subresource: 'status' },
        )
    } catch (error) {
      if (!isStatus(error, 'Conflict') && !isStatus(error, 'NotFound') && !isStatus(error, 'AlreadyExists'))
        throw error
    }
  }
}

/** Kinds of which the control plane knows by itself who is there. */
const ownKinds: ReadonlySet<string> = new Set(['Kubelet', 'Agent', 'Pod', 'External'])

/** Nodes and Pods that are gone leave the list; `ids` are those that are there. */
export async function removeGone(
  ids: ReadonlySet<string>,
  { reader, client }: { reader: ObjectReader; client: KubeClient },
): Promise<void> {
  for (const { metadata, spec } of reader.list<TrustConsumerObject>(trustConsumer.ref)) {
    if (!ownKinds.has(spec.consumerKind) || ids.has(spec.identity)) continue
    try {
      await client.delete(trustConsumer.ref, { name: metadata.name })
    } catch (error) {
      if (!isStatus(error, 'NotFound')) throw error
    }
  }
}

function isSame(before: TrustConsumerObject, next: TrustConsumerObject): boolean {
  const age = Date.parse(next.status?.lastSeen ?? '') - Date.parse(before.status?.lastSeen ?? '')
  const every = next.spec.node === undefined ? lifeEvery.stranger : lifeEvery.node
  return age < every && JSON.stringify(timeless(before)) === JSON.stringify(timeless(next))
}

/** Without the times that pass of themselves; in one order, however it was stored. */
function timeless({ spec, status }: TrustConsumerObject): unknown {
  const proofs = status?.proofs?.map(({ role, level, generation, instance, authorities }) => [
    role,
    level,
    generation,
    instance,
    authorities,
  ])
  return [spec.identity, [...spec.roles].sort(), status?.state, status?.instance, status?.lastFailure, proofs]
}
