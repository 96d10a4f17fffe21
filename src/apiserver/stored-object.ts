/**
 * Objects as the store holds them: JSON that begins `{"kind":…,"apiVersion":…,"metadata":{` and lacks only the
 * resourceVersion, which is the revision of the write. So a read answers by splicing bytes, without parsing.
 */
import type { KubeObject, ResourceRef } from '../kube/types.ts'
import { Recent } from './recent.ts'
import type { Stored } from './storage/store.ts'

const encoder = new TextEncoder()

/** `registry/GROUP/PLURAL/`, all objects of a resource, or with a namespace those in it. */
export function prefixOf(resource: Pick<ResourceRef, 'group' | 'plural'>, namespace = ''): string {
  const collection = `registry/${resource.group || 'core'}/${resource.plural}/`
  return namespace ? `${collection}${namespace}/` : collection
}

export function keyOf(
  resource: Pick<ResourceRef, 'group' | 'plural'>,
  namespace: string,
  name: string,
): string {
  return prefixOf(resource, namespace) + name
}

export const apiVersionOf = (resource: Pick<ResourceRef, 'group' | 'version'>) =>
  resource.group ? `${resource.group}/${resource.version}` : resource.version

const heads = new WeakMap<ResourceRef, Uint8Array>()

/** What the stored JSON of every object of the resource begins with. */
function headOf(resource: ResourceRef): Uint8Array {
  let head = heads.get(resource)
  if (!head) {
    const kind = JSON.stringify(resource.kind)
    const apiVersion = JSON.stringify(apiVersionOf(resource))
    head = encoder.encode(`{"kind":${kind},"apiVersion":${apiVersion},"metadata":{`)
    heads.set(resource, head)
  }
  return head
}

/** The object's bytes for the store. metadata.name must be set: the splice needs a first field. */
export function encodeObject(resource: ResourceRef, object: KubeObject): Uint8Array {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object
  const { resourceVersion: _resourceVersion, name, ...meta } = metadata
  return encoder.encode(
    JSON.stringify({
      kind: resource.kind,
      apiVersion: apiVersionOf(resource),
      metadata: { name, ...meta },
      ...rest,
    }),
  )
}

/** What was never written (a dry run) has no version. */
const versionField = (revision: number) =>
  Buffer.from(revision === 0 ? '' : `"resourceVersion":"${revision}",`, 'latin1')

/** The object's JSON with a resourceVersion: that of its last write, or for a deletion the deletion's. */
export function objectJson(
  resource: ResourceRef,
  stored: Stored,
  revision: number = stored.modRevision,
): Uint8Array {
  return Buffer.concat(objectParts(resource, stored, revision))
}

/** What `objectJson` puts together. */
export function objectParts(resource: ResourceRef, stored: Stored, revision: number): Uint8Array[] {
  const head = headOf(resource)
  return [head, versionField(revision), stored.value.subarray(head.length)]
}

const itemHead = encoder.encode('{"metadata":{')

/** The object as an item of a list: kube-apiserver leaves kind and apiVersion out, as the list says them. */
export function itemJson(resource: ResourceRef, stored: Stored): Uint8Array {
  const rest = stored.value.subarray(headOf(resource).length)
  return Buffer.concat([itemHead, versionField(stored.modRevision), rest])
}

/** The request's own copy of the object. */
export function parseObject<T extends KubeObject>(stored: Stored, revision = stored.modRevision): T {
  const { buffer, byteOffset, byteLength } = stored.value
  const object = JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString()) as T
  object.metadata.resourceVersion = String(revision)
  return object
}

const parsed = new WeakMap<Stored, KubeObject>()
/** Of the versions parsed last; a parsed form takes several times the bytes. */
const recentlyParsed = new Recent<Stored>(2000, stored => parsed.delete(stored))

/** The object for one look at many: what is not parsed yet is not kept. Never change it. */
export function glanceAt<T extends KubeObject>(stored: Stored): T {
  return (parsed.get(stored) as T | undefined) ?? parseObject<T>(stored)
}

/** The object, parsed once for each stored version while it is new, and shared by all: never change it. */
export function sharedObject<T extends KubeObject>(stored: Stored): T {
  let object = parsed.get(stored)
  if (!object) {
    object = parseObject(stored)
    parsed.set(stored, object)
    recentlyParsed.add(stored)
  }
  return object as T
}
