import type { KubeObject } from '../../kube/types.ts'
import type { Subresource } from './resource.ts'

/** `/status` of a kind whose spec it must not change; what is in status is for its writers to know. */
export function statusSubresource<T extends KubeObject & { spec?: unknown }>(): Subresource<T> {
  return {
    verbs: ['get', 'patch', 'update'],
    prepareForUpdate(next, previous) {
      next.spec = structuredClone(previous.spec ?? {})
    },
    validateUpdate: () => [],
  }
}
