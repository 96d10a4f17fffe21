/** Stored objects in the form that the client's Accept header asks for. */
import type { ApiResponse } from '../kube/transport.ts'
import type { KubeList } from '../kube/types.ts'
import type { Call } from './call.ts'
import type { StoredResource } from './resources/resource.ts'
import { json, jsonBytes, valueAnswer } from './response.ts'
import type { Stored } from './storage/store.ts'
import { apiVersionOf, glanceAt, itemJson, objectJson, parseObject, sharedObject } from './stored-object.ts'
import { negotiate, type Representation } from './wire/negotiate.ts'
import { partialObjectMetadata, partialObjectMetadataList } from './wire/partial-metadata.ts'
import { type IncludeObject, includeObjectOf, tableOf } from './wire/table.ts'

/** What the client wants; negotiated before anything is done, so that a 406 changes nothing. */
export interface Form extends Representation {
  includeObject: IncludeObject
}

/** Throws ApiError 406 or 400. */
export function formOf({ request, query }: Pick<Call, 'request' | 'query'>): Form {
  return {
    ...negotiate(request.headers.accept),
    includeObject: includeObjectOf(query.get('includeObject')),
  }
}

export function respondObject(call: Call, form: Form, stored: Stored, status = 200): ApiResponse {
  const { resource } = call
  if (form.kind === 'json')
    return call.request.wantsValues
      ? valueAnswer(status, parseObject(stored))
      : jsonBytes(status, objectJson(resource, stored))
  const object = sharedObject(stored)
  if (form.kind === 'partial-metadata') return json(status, partialObjectMetadata(object, form.version))
  return json(
    status,
    tableOf(resource, [object], {
      now: call.core.clock.now(),
      includeObject: form.includeObject,
      listMeta: { resourceVersion: String(stored.modRevision) },
      version: form.version,
    }),
  )
}

export function respondList(
  call: Call,
  form: Form,
  items: readonly Stored[],
  listMeta: KubeList['metadata'],
): ApiResponse {
  const { resource } = call
  if (form.kind === 'json') return jsonBytes(200, listJson(resource, items, listMeta))
  const objects = items.map(item => glanceAt(item))
  if (form.kind === 'partial-metadata')
    return json(200, partialObjectMetadataList(objects, listMeta, form.version))
  return json(
    200,
    tableOf(resource, objects, {
      now: call.core.clock.now(),
      includeObject: form.includeObject,
      listMeta,
      version: form.version,
    }),
  )
}

const comma = Buffer.from(',')
const end = Buffer.from(']}\n')

/** The list's JSON without parsing any item. */
function listJson(
  resource: StoredResource,
  items: readonly Stored[],
  listMeta: KubeList['metadata'],
): Uint8Array {
  const head = JSON.stringify({
    kind: `${resource.kind}List`,
    apiVersion: apiVersionOf(resource),
    metadata: listMeta,
  })
  const parts: Uint8Array[] = [Buffer.from(`${head.slice(0, -1)},"items":[`)]
  items.forEach((item, index) => {
    if (index > 0) parts.push(comma)
    parts.push(itemJson(resource, item))
  })
  parts.push(end)
  return Buffer.concat(parts)
}
