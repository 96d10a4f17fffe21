import { isDeepStrictEqual } from 'node:util'
import type { ApiResponse } from '../../kube/transport.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { Call } from '../call.ts'
import { keyInEtcd } from '../key-in-etcd.ts'
import { metadataErrors, metadataUpdateErrors } from '../metadata-rules.ts'
import { type Form, formOf, respondObject } from '../representation.ts'
import type { Stored } from '../storage/store.ts'
import { encodeObject, keyOf, sharedObject } from '../stored-object.ts'
import { apiError } from '../wire/api-error.ts'
import { fieldError } from '../wire/field-error.ts'
import { createObject } from './create.ts'
import { admit, dryRunOf, expiryOf, readObject, setNamespace, writeContext } from './write.ts'

/** Under contention each try costs one commit; a client that loses this often is told so. */
const ATTEMPTS = 100

/** PUT of an object or of its subresource. */
export async function update(call: Call): Promise<ApiResponse> {
  const { core, resource, path } = call
  const form = formOf(call)
  const dryRun = dryRunOf(call, 'UpdateOptions')
  const body = readObject(call, 'UpdateOptions')
  setNamespace(call, body)
  requireNameOfPath(call, body)
  const given = body.metadata.resourceVersion
  if (!core.store.get(keyOf(resource, path.namespace, path.name)) && resource.allowCreateOnUpdate && !given)
    return createObject(call, form, body, dryRun)
  if (!given && !resource.allowUnconditionalUpdate)
    throw apiError.invalid(resource, path.name, [
      fieldError.invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ])
  // Hooks may change what they get, so each try works on a copy; with a resourceVersion there is no second one.
  return modify(call, form, { dryRun, next: () => (given ? body : structuredClone(body)) })
}

/** Throws ApiError 400. */
export function requireNameOfPath({ path }: Call, body: KubeObject): void {
  const { name } = body.metadata
  if (!name)
    throw apiError.badRequest(
      `the name of the object (${path.name} based on URL) was undeterminable: name must be provided`,
    )
  if (name !== path.name)
    throw apiError.badRequest(
      `the name of the object (${name}) does not match the name on the URL (${path.name})`,
    )
}

export interface Modification {
  dryRun: boolean
  /** The object as it shall be, made from the stored version; the caller's own copy. */
  next(stored: Stored): KubeObject
}

/**
 * Replaces an object by what `next` makes of it. Without a resourceVersion in that it is tried again on the newest
 * version; with one a newer version is a conflict. What changes nothing is not written.
 */
export async function modify(call: Call, form: Form, modification: Modification): Promise<ApiResponse> {
  const { core, resource, path } = call
  const key = keyOf(resource, path.namespace, path.name)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stored = core.store.get(key)
    if (!stored) throw apiError.notFound(resource, path.name)
    const next = prepare(call, stored, modification.next(stored))
    const value = encodeObject(resource, next)
    const unchanged = isUnchanged(stored, value, next)
    if (unchanged || modification.dryRun)
      return respondObject(call, form, unchanged ? stored : { ...stored, value })
    const gone = isFinallyDeleted(next, sharedObject(stored))
    const result = await core.store.write({
      key,
      expect: stored.modRevision,
      value: gone ? null : value,
      ...expiryOf(call),
    })
    if (result.ok) return respondObject(call, form, { ...stored, value, modRevision: result.revision })
  }
  throw apiError.conflict(resource, path.name)
}

/** Brings `next` in order and judges it. Throws ApiError 409, 403 or 422. */
function prepare(call: Call, stored: Stored, next: KubeObject): KubeObject {
  const { resource, path } = call
  const previous = sharedObject(stored)
  requirePreconditions(call, next, previous)
  inheritMetadata(next, previous)
  const context = writeContext(call)
  const subresource = path.subresource ? resource.subresources[path.subresource] : undefined
  const rules = subresource ?? resource
  rules.prepareForUpdate(next, previous, context)
  countGeneration(call, next, previous)
  admit(call, { operation: 'UPDATE', name: path.name, object: next, oldObject: previous })
  const errors = [
    ...metadataErrors(resource, next.metadata),
    ...metadataUpdateErrors(next, previous),
    ...rules.validateUpdate(next, previous),
  ]
  if (errors.length > 0) throw apiError.invalid(resource, path.name, errors)
  return next
}

function requirePreconditions({ resource, path }: Call, next: KubeObject, previous: KubeObject): void {
  const { uid, resourceVersion } = next.metadata
  if (uid && uid !== previous.metadata.uid)
    throw apiError.conflict(
      resource,
      path.name,
      `StorageError: invalid object, Code: 4, Key: ${keyInEtcd(resource, path.namespace, path.name)}, ResourceVersion: 0, ` +
        `AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${previous.metadata.uid}`,
    )
  if (resourceVersion && resourceVersion !== '0' && resourceVersion !== previous.metadata.resourceVersion)
    throw apiError.conflict(resource, path.name)
}

/** What a client need not send, and what it cannot change. */
function inheritMetadata(next: KubeObject, previous: KubeObject): void {
  const { uid, creationTimestamp, deletionTimestamp, generation, ...rest } =
    previous.metadata as KubeObject['metadata'] & { deletionGracePeriodSeconds?: number }
  const given = { ...next.metadata } as typeof previous.metadata & Record<string, unknown>
  for (const field of ['managedFields', 'selfLink', 'deletionGracePeriodSeconds', 'generation'])
    delete given[field]
  next.metadata = {
    ...given,
    ...(uid && { uid }),
    ...(!given.creationTimestamp && creationTimestamp && { creationTimestamp }),
    ...(deletionTimestamp && { deletionTimestamp }),
    ...(rest.deletionGracePeriodSeconds !== undefined && {
      deletionGracePeriodSeconds: rest.deletionGracePeriodSeconds,
    }),
    ...(generation !== undefined && { generation }),
  }
}

function countGeneration({ resource, path }: Call, next: KubeObject, previous: KubeObject): void {
  if (!resource.hasGeneration || path.subresource) return
  const specOf = ({ metadata: _metadata, ...object }: KubeObject) => ({ ...object, status: undefined })
  if (!isDeepStrictEqual(specOf(next), specOf(previous)))
    next.metadata.generation = (previous.metadata.generation ?? 1) + 1
}

/** A deletion that waited for finalizers happens with the update that removes the last one. */
function isFinallyDeleted(next: KubeObject, previous: KubeObject): boolean {
  const finalizers = (object: KubeObject) => object.metadata.finalizers?.length ?? 0
  return next.metadata.deletionTimestamp !== undefined && finalizers(previous) > 0 && finalizers(next) === 0
}

/** The order of fields is no change: a client may send them as it likes. */
function isUnchanged(stored: Stored, value: Uint8Array, next: KubeObject): boolean {
  if (Buffer.compare(stored.value, value) === 0) return true
  if (stored.value.length !== value.length) return false
  const { resourceVersion: _previous, ...previousMeta } = sharedObject(stored).metadata
  const { resourceVersion: _next, ...nextMeta } = next.metadata
  return isDeepStrictEqual(
    { ...sharedObject(stored), metadata: previousMeta },
    { ...next, metadata: nextMeta },
  )
}
