import type { KubeObject, ResourceRef } from '../kube/types.ts'

/** The current objects, for authorization and admission. Objects are shared: never change them. */
export interface ObjectReader {
  get<T extends KubeObject>(resource: ResourceRef, name: string, namespace?: string): T | undefined
  /** All namespaces when none is given. */
  list<T extends KubeObject>(resource: ResourceRef, namespace?: string): readonly T[]
  /** Changes whenever any object of the resource changes; for caches of derived facts. */
  generation(resource: ResourceRef): number
}
