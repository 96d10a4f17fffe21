import { isDeepStrictEqual } from 'node:util'
import type { ApiResponse } from '../../kube/transport.ts'
import type { KubeObject } from '../../kube/types.ts'
import { readBody } from '../body.ts'
import type { Call } from '../call.ts'
import { markedForDeletion } from '../deletion-mark.ts'
import { isImmortal } from '../namespace-lifecycle.ts'
import { finalizersToDelete, type Propagation, propagationOf } from '../propagation.ts'
import { formOf, respondObject } from '../representation.ts'
import { json } from '../response.ts'
import type { Stored } from '../storage/store.ts'
import { encodeObject, keyOf, parseObject, sharedObject } from '../stored-object.ts'
import { apiError } from '../wire/api-error.ts'
import { isDryRun } from '../write-options.ts'
import { admit } from './write.ts'

export interface DeleteOptions {
  uid?: string
  resourceVersion?: string
  dryRun: boolean
  propagation?: Propagation
}

const ATTEMPTS = 100

/** DELETE of one object. */
export async function deleteOne(call: Call): Promise<ApiResponse> {
  const form = formOf(call)
  const options = deleteOptionsOf(call)
  const { name } = call.path
  const left = await deleteObject(call, name, options)
  const shown = left.waiting || call.resource.returnDeletedObject
  return shown ? respondObject(call, form, left.stored) : deleted(call, left.stored)
}

/** As kube-apiserver's, without a code. */
function deleted({ resource, path }: Call, stored: Stored): ApiResponse {
  return json(200, {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: path.name,
      ...(resource.group && { group: resource.group }),
      kind: resource.plural,
      uid: sharedObject(stored).metadata.uid,
    },
  })
}

/** From the body (DeleteOptions, may be absent) and the query. Throws ApiError 400 or 422. */
export function deleteOptionsOf(call: Call): DeleteOptions {
  const { request, query } = call
  const body = request.body?.length ? readBody(request, 'DeleteOptions').value : {}
  const { preconditions, dryRun, propagationPolicy, orphanDependents } = Object(body) as {
    preconditions?: { uid?: unknown; resourceVersion?: unknown }
    dryRun?: unknown
    propagationPolicy?: unknown
    orphanDependents?: unknown
  }
  const orphan = query.get('orphanDependents')
  const propagation = propagationOf(
    query.get('propagationPolicy') || propagationPolicy,
    orphan ? orphan === 'true' : orphanDependents,
  )
  const { uid, resourceVersion } = preconditions ?? {}
  const asked = new URLSearchParams(query)
  if (Array.isArray(dryRun)) for (const value of dryRun) asked.append('dryRun', String(value))
  return {
    ...(typeof uid === 'string' && { uid }),
    ...(typeof resourceVersion === 'string' && { resourceVersion }),
    dryRun: isDryRun(asked, 'DeleteOptions'),
    ...(propagation && { propagation }),
  }
}

/**
 * Deletes the object, or where finalizers must run first marks it (`waiting`). A precondition that does not hold is a
 * conflict; without one the newest version is deleted. Throws ApiError 404, 403 or 409.
 */
export async function deleteObject(
  call: Call,
  name: string,
  options: DeleteOptions,
): Promise<{ stored: Stored; waiting: boolean }> {
  const { core, resource, path } = call
  const key = keyOf(resource, path.namespace, name)
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const stored = core.store.get(key)
    if (!stored) throw apiError.notFound(resource, name)
    const object = sharedObject(stored)
    requirePreconditions(call, object, options)
    if (isImmortal(resource, name))
      throw apiError.forbidden(resource, name, 'this namespace may not be deleted')
    admit(call, { operation: 'DELETE', name, oldObject: object })
    const marked = marking(call, stored, options)
    if (marked === 'already') return { stored, waiting: true }
    if (options.dryRun) return { stored, waiting: marked !== undefined }
    const value = marked ?? null
    // Afterwards there is no reading it.
    const last = stored.value
    const result = await core.store.write({ key, expect: stored.modRevision, value })
    if (!result.ok) continue
    return value
      ? { stored: { ...stored, value, modRevision: result.revision }, waiting: true }
      : { stored: { ...stored, value: last, modRevision: result.revision }, waiting: false }
  }
  throw apiError.conflict(resource, name)
}

function requirePreconditions(call: Call, { metadata }: KubeObject, options: DeleteOptions): void {
  const { uid, resourceVersion } = options
  // Kubernetes names the kind here where every other conflict names the collection.
  const resource = { ...call.resource, plural: call.resource.kind }
  if (uid && uid !== metadata.uid)
    throw apiError.conflict(
      resource,
      metadata.name,
      `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
    )
  if (resourceVersion && resourceVersion !== metadata.resourceVersion)
    throw apiError.conflict(
      resource,
      metadata.name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`,
    )
}

/** The object marked as being deleted where somebody must finish that; undefined where it can go at once. */
function marking(
  { core, resource }: Call,
  stored: Stored,
  { propagation }: DeleteOptions,
): Uint8Array | 'already' | undefined {
  const object = parseObject(stored)
  const finalizers = finalizersToDelete(resource, object.metadata, propagation)
  const marked = markedForDeletion(resource, object, finalizers, core.clock.now())
  if (!marked) return undefined
  const { deletionTimestamp, finalizers: before = [] } = object.metadata
  if (deletionTimestamp && isDeepStrictEqual(finalizers, before)) return 'already'
  return encodeObject(resource, marked)
}
