import { type KubeObject, type ResourceRef, resources } from '../../../kube/types.ts'
import type { ObjectReader } from '../../reader.ts'

export interface MemoryReader extends ObjectReader {
  put(...objects: KubeObject[]): void
  remove(object: KubeObject): void
}

const plurals = new Map<string, string>(Object.values(resources).map(({ kind, plural }) => [kind, plural]))

/** An ObjectReader over the objects given, as the server's own is over its store. */
export function memoryReader(...initial: readonly KubeObject[]): MemoryReader {
  const collections = new Map<string, Map<string, KubeObject>>()
  const generations = new Map<string, number>()
  const keyOf = (name: string, namespace = '') => `${namespace}/${name}`

  function change(object: KubeObject, stored: boolean): void {
    const plural = plurals.get(object.kind) ?? object.kind
    const collection = collections.get(plural) ?? new Map<string, KubeObject>()
    collections.set(plural, collection)
    generations.set(plural, (generations.get(plural) ?? 0) + 1)
    const key = keyOf(object.metadata.name, object.metadata.namespace)
    if (stored) collection.set(key, object)
    else collection.delete(key)
  }

  const reader: MemoryReader = {
    put: (...objects) => {
      for (const object of objects) change(object, true)
    },
    remove: object => change(object, false),
    // The caller says what a resource holds, as with the server's own reader.
    get: <T extends KubeObject>(resource: ResourceRef, name: string, namespace?: string) =>
      collections.get(resource.plural)?.get(keyOf(name, namespace)) as T | undefined,
    list: <T extends KubeObject>(resource: ResourceRef, namespace?: string) =>
      [...(collections.get(resource.plural)?.values() ?? [])].filter(
        object => namespace === undefined || object.metadata.namespace === namespace,
      ) as T[],
    generation: resource => generations.get(resource.plural) ?? 0,
  }
  reader.put(...initial)
  return reader
}
