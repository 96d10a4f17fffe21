import type { JsonObject, JsonValue } from '../../kube/json.ts'
import { applyJsonPatch } from '../../kube/patch/json-patch.ts'
import { applyMergePatch } from '../../kube/patch/merge-patch.ts'
import { applyStrategicMergePatch } from '../../kube/patch/strategic-merge.ts'
import type { ApiRequest, ApiResponse } from '../../kube/transport.ts'
import type { KubeObject } from '../../kube/types.ts'
import { clean, mediaTypeOf, parseJson, requireObject } from '../body.ts'
import type { Call } from '../call.ts'
import { formOf } from '../representation.ts'
import { parseObject } from '../stored-object.ts'
import { ApiError, apiError } from '../wire/api-error.ts'
import { fieldError } from '../wire/field-error.ts'
import { checkFields, fieldValidationOf } from '../write-options.ts'
import { modify, requireNameOfPath } from './update.ts'
import { dryRunOf } from './write.ts'

type ApplyPatch = (object: JsonObject, patch: unknown, kind: string) => JsonValue

const kinds: Readonly<Record<string, ApplyPatch>> = {
  'application/json-patch+json': (object, patch) => applyJsonPatch(object, patch),
  'application/merge-patch+json': (object, patch) => applyMergePatch(object, patch as JsonValue),
  'application/strategic-merge-patch+json': applyStrategicMergePatch,
}

/** A strategic merge needs merge keys, which custom resources do not have. */
const { 'application/strategic-merge-patch+json': _strategic, ...customKinds } = kinds

/** PATCH of an object or of its subresource (W-3). */
export async function patch(call: Call): Promise<ApiResponse> {
  const { core, resource, request, query } = call
  const form = formOf(call)
  const dryRun = dryRunOf(call, 'PatchOptions')
  const validation = fieldValidationOf(query, 'PatchOptions')
  const apply = patchKind(request, resource.structural ? customKinds : kinds)
  const { value, duplicates } = readPatch(call)
  let warned = false
  return modify(call, form, {
    dryRun,
    next(stored) {
      // The stored version's own copy: patches share what they do not change.
      const original = parseObject(stored)
      const patched = apply(original as unknown as JsonObject, value, resource.kind)
      clean(patched, core.limits.bodyBytes)
      const object = requireObject(patched, resource)
      requireNameOfPath(call, object)
      const warnings = checkFields(core.schemas, validation, resource, { object, duplicates }, text =>
        refuseStrictly(value, text),
      )
      if (!warned) call.warnings.push(...warnings)
      warned = true
      return withoutOwnVersion(object, original)
    },
  })
}

/** Throws ApiError 415; server-side apply would have to track who owns which field. */
function patchKind(request: ApiRequest, known: typeof kinds): ApplyPatch {
  const type = mediaTypeOf(request)
  if (type === 'application/apply-patch+yaml' || type === 'application/apply-patch+cbor')
    throw new ApiError(
      415,
      'UnsupportedMediaType',
      'server-side apply is not supported by this server: use kubectl apply without --server-side, or a strategic merge patch',
    )
  const apply = Object.hasOwn(known, type) ? known[type] : undefined
  if (!apply) throw apiError.unsupportedMediaType(Object.keys(known))
  return apply
}

/** null means something in a patch, so nothing is cleaned away. Throws ApiError 400. */
function readPatch({ request }: Call) {
  try {
    return parseJson(request.body ?? new Uint8Array())
  } catch {
    throw apiError.badRequest('error decoding patch: the body is not valid JSON')
  }
}

/**
 * A patch that names no resourceVersion applies to whatever is there. (The patched object carries the version it was
 * made from, which would make a conflict of every concurrent write.)
 */
function withoutOwnVersion(object: KubeObject, original: KubeObject): KubeObject {
  if (object.metadata.resourceVersion !== original.metadata.resourceVersion) return object
  const { resourceVersion: _version, ...metadata } = object.metadata
  return { ...object, metadata }
}

function refuseStrictly(patch: unknown, text: string): ApiError {
  return apiError.invalid({ group: '', plural: '', kind: '' }, '', [
    fieldError.invalid('patch', JSON.stringify(patch), text),
  ])
}
