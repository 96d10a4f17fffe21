/** What a watch from within this process gets: the events themselves, whose objects are parsed once for everybody. */
import type { KubeObject, Status, WatchEventType } from '../../kube/types.ts'
import type { StoredResource } from '../resources/resource.ts'
import { apiVersionOf, parseObject, sharedObject } from '../stored-object.ts'
import type { Change } from './watch-event.ts'
import type { Chunks } from './watch-stream.ts'

/** An event that would be one line of a watch's body. */
export interface WatchValue {
  type: WatchEventType
  object: KubeObject | Status
}

/** Every event counts as much, so that a chunk has at most 64. */
export const valueChunks: Chunks<WatchValue, readonly WatchValue[]> = {
  size: () => 1024,
  join: parts => parts,
}

/** A deleted object has a version of its own, so it is parsed anew. */
export function changeValue({ type, stored, revision }: Change): WatchValue {
  const object = revision === stored.modRevision ? sharedObject(stored) : parseObject(stored, revision)
  return { type, object }
}

/** `initialEnd`: W-5. */
export function bookmarkValue(resource: StoredResource, revision: number, initialEnd: boolean): WatchValue {
  const annotations = { 'k8s.io/initial-events-end': 'true' }
  const metadata = { name: '', resourceVersion: String(revision), ...(initialEnd && { annotations }) }
  return { type: 'BOOKMARK', object: { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata } }
}
