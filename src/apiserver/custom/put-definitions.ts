import { isDeepStrictEqual } from 'node:util'
import {
  type CustomResourceDefinition,
  customResourceDefinitionRef as definitions,
  servedDefinition,
} from '../../kube/rollcall/definition.ts'
import type { RollcallKind } from '../../kube/rollcall/kind.ts'
import type { Clock, Random } from '../../ports.ts'
import { timestamp, uuid } from '../object-name.ts'
import type { Store } from '../storage/store.ts'
import { encodeObject, keyOf, parseObject, prefixOf } from '../stored-object.ts'

/**
 * Brings the stored CustomResourceDefinitions to those of `kinds`: no client can write them. What is right stays
 * untouched, so that a restart changes nothing that is watched.
 */
export async function putDefinitions(
  kinds: readonly RollcallKind[],
  { store, clock, random }: { store: Store; clock: Clock; random: Random },
): Promise<void> {
  const now = timestamp(clock.now())
  const wanted = new Map(kinds.map(kind => [nameOf(kind), kind]))
  for (const [name, kind] of wanted) {
    const key = keyOf(definitions, '', name)
    const stored = store.get(key)
    const next = stored
      ? brought(parseObject<CustomResourceDefinition>(stored), kind)
      : made(servedDefinition(kind, now), now, random)
    if (next)
      await store.write({ key, expect: stored?.modRevision ?? 0, value: encodeObject(definitions, next) })
  }
  for (const { key, modRevision } of store.list(prefixOf(definitions)).items) {
    const name = key.slice(prefixOf(definitions).length)
    if (!wanted.has(name)) await store.write({ key, expect: modRevision, value: null })
  }
}

const nameOf = ({ ref }: RollcallKind) => `${ref.plural}.${ref.group}`

function made(
  definition: CustomResourceDefinition,
  creationTimestamp: string,
  random: Random,
): CustomResourceDefinition {
  const metadata = { ...definition.metadata, uid: uuid(random), creationTimestamp, generation: 1 }
  return { ...definition, metadata }
}

/** The stored definition with what the kind now says; undefined when that is what it says already. */
function brought(stored: CustomResourceDefinition, kind: RollcallKind): CustomResourceDefinition | undefined {
  const { metadata } = stored
  const { spec, status } = servedDefinition(kind, metadata.creationTimestamp ?? '')
  const plain = JSON.parse(JSON.stringify({ spec, status }))
  if (isDeepStrictEqual(plain, { spec: stored.spec, status: stored.status })) return undefined
  return { ...stored, ...plain, metadata: { ...metadata, generation: (metadata.generation ?? 1) + 1 } }
}
