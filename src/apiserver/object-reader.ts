import type { KubeObject, ResourceRef } from '../kube/types.ts'
import type { ObjectReader } from './reader.ts'
import type { Store } from './storage/store.ts'
import { keyOf, prefixOf, sharedObject } from './stored-object.ts'

/** The current objects of a store, for authorization and admission; lists are kept until the resource changes. */
export function createObjectReader(store: Store): ObjectReader {
  const generations = new Map<string, number>()
  const lists = new Map<string, { generation: number; objects: readonly KubeObject[] }>()
  const prefixes = new WeakMap<ResourceRef, string>()

  function generationOf(resource: ResourceRef): number {
    let prefix = prefixes.get(resource)
    if (prefix === undefined) {
      prefix = prefixOf(resource)
      prefixes.set(resource, prefix)
    }
    return generations.get(prefix) ?? 0
  }

  store.watch('registry/', store.revision, event => {
    // registry/GROUP/PLURAL/… : the collection ends at the third slash.
    const group = event.key.indexOf('/', 'registry/'.length)
    const collection = event.key.slice(0, event.key.indexOf('/', group + 1) + 1)
    generations.set(collection, event.revision)
  })

  return {
    get<T extends KubeObject>(resource: ResourceRef, name: string, namespace = '') {
      const stored = store.get(keyOf(resource, namespace, name))
      return stored && sharedObject<T>(stored)
    },
    list<T extends KubeObject>(resource: ResourceRef, namespace = '') {
      const prefix = prefixOf(resource, namespace)
      const generation = generationOf(resource)
      const kept = lists.get(prefix)
      if (kept && kept.generation === generation) return kept.objects as readonly T[]
      const objects = store.list(prefix).items.map(item => sharedObject<T>(item))
      lists.set(prefix, { generation, objects })
      return objects
    },
    generation: generationOf,
  }
}
