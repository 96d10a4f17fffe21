import { isDeepStrictEqual } from 'node:util'
import {
  type CustomResourceDefinition,
  customResourceDefinitionRef as definitions,
  servedDefinition,
} from '../../kube/rollcall/definition.ts'
import type { RollcallKind } from '../../kube/rollcall/kind.ts'
import { objectSchema } from '../../kube/rollcall/object-schema.ts'
import type { Clock, Random } from '../../ports.ts'
import { timestamp, uuid } from '../object-name.ts'
import type { Store } from '../storage/store.ts'
import { encodeObject, keyOf, parseObject, prefixOf } from '../stored-object.ts'
import { applyDefaults } from './apply-defaults.ts'

interface Surroundings {
  store: Store
  clock: Clock
  random: Random
}

/**
 * Brings the stored CustomResourceDefinitions to those of `kinds`: no client can write them. What is right stays
 * untouched, so that a restart changes nothing that is watched.
 */
export async function putDefinitions(kinds: readonly RollcallKind[], around: Surroundings): Promise<void> {
  const { store } = around
  for (const kind of kinds) await putDefinition(kind, around)
  const wanted = new Set(kinds.map(kind => keyOf(definitions, '', nameOf(kind))))
  for (const { key, modRevision } of store.list(prefixOf(definitions)).items) {
    if (!wanted.has(key)) await store.write({ key, expect: modRevision, value: null })
  }
}

async function putDefinition(kind: RollcallKind, { store, clock, random }: Surroundings): Promise<void> {
  const key = keyOf(definitions, '', nameOf(kind))
  const stored = store.get(key)
  const now = timestamp(clock.now())
  const next = stored
    ? brought(parseObject<CustomResourceDefinition>(stored), kind)
    : made(servedDefinition(kind, now), now, random)
  if (!next) return
  // First, so that after a crash it is done again.
  await fillDefaults(kind, store)
  await store.write({ key, expect: stored?.modRevision ?? 0, value: encodeObject(definitions, next) })
}

/**
 * Fills a newer schema's defaults in where stored objects lack them, which Kubernetes does whenever it reads one. What the
 * schema does not know stays until it is written: the schema may be an older one, started by mistake.
 */
async function fillDefaults(kind: RollcallKind, store: Store): Promise<void> {
  const schema = objectSchema(kind)
  for (const stored of store.list(prefixOf(kind.ref)).items) {
    const object = parseObject(stored)
    applyDefaults(schema, object)
    const value = encodeObject(kind.ref, object)
    if (Buffer.compare(value, stored.value) !== 0)
      await store.write({ key: stored.key, expect: stored.modRevision, value })
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
