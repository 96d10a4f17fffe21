import type { ApiResponse } from '../../kube/transport.ts'
import { cannotBeHandled, readBody, requireObject } from '../body.ts'
import type { Call } from '../call.ts'
import type { ReviewResource } from '../resources/resource.ts'
import { json, valueAnswer } from '../response.ts'
import { apiError } from '../wire/api-error.ts'
import { checkFields, fieldValidationOf } from '../write-options.ts'

/** POST of a review: a question whose answer is not stored. */
export function review(call: Omit<Call, 'resource'>, resource: ReviewResource): ApiResponse {
  const { core, path, user, query } = call
  const body = readBody(call.request, resource.kind)
  const object = requireObject(body.value, resource)
  const validation = fieldValidationOf(query, 'CreateOptions')
  const checked = { object, duplicates: body.duplicates, typed: body.typed }
  call.warnings.push(
    ...checkFields(call.core.schemas, validation, resource, checked, text => cannotBeHandled(resource, text)),
  )
  const errors = resource.validate(object)
  if (errors.length > 0) throw apiError.invalid(resource, object.metadata.name ?? '', errors)
  const answer = resource.review(object, {
    user,
    now: core.clock.now(),
    subresource: path.subresource,
    access: core.access,
    reader: core.reader,
    namespace: path.namespace,
  })
  return call.request.wantsValues ? valueAnswer(201, answer) : json(201, answer)
}
