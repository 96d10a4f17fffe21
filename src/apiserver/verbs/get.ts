import type { ApiResponse } from '../../kube/transport.ts'
import type { Call } from '../call.ts'
import { resourceVersionOf, tooLargeResourceVersion } from '../list-options.ts'
import { formOf, respondObject } from '../representation.ts'
import { keyOf } from '../stored-object.ts'
import { apiError } from '../wire/api-error.ts'

/** GET of one object or of its subresource, which is the whole object too. */
export function get(call: Call): ApiResponse {
  const { core, resource, path } = call
  const form = formOf(call)
  const atLeast = resourceVersionOf(call.query)
  if (atLeast !== undefined && atLeast > core.store.revision)
    throw tooLargeResourceVersion(atLeast, core.store.revision)
  const stored = core.store.get(keyOf(resource, path.namespace, path.name))
  if (!stored) throw apiError.notFound(resource, path.name)
  return respondObject(call, form, stored)
}
