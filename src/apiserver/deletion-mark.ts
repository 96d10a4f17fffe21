import type { KubeObject } from '../kube/types.ts'
import { terminatingNamespace } from './namespace-lifecycle.ts'
import { timestamp } from './object-name.ts'
import type { StoredResource } from './resources/resource.ts'

/**
 * The object marked as being deleted, where finalizers must run first or a namespace has content; undefined where it can
 * go at once. `now` in milliseconds since the epoch.
 */
export function markedForDeletion(
  resource: StoredResource,
  object: KubeObject,
  finalizers: readonly string[],
  now: number,
): KubeObject | undefined {
  const namespace = terminatingNamespace(resource, object)
  if (finalizers.length === 0 && !namespace) return undefined
  const { deletionTimestamp, generation, finalizers: _before, ...others } = object.metadata
  const first = deletionTimestamp === undefined
  const metadata = {
    ...others,
    ...(finalizers.length > 0 && { finalizers: [...finalizers] }),
    deletionTimestamp: deletionTimestamp ?? timestamp(now),
    deletionGracePeriodSeconds: 0,
    ...(generation !== undefined && { generation: first ? generation + 1 : generation }),
  }
  return { ...(namespace ?? object), metadata }
}
