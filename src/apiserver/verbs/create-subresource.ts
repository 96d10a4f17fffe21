import type { ApiResponse } from '../../kube/transport.ts'
import { cannotBeHandled, readBody, requireObject } from '../body.ts'
import type { Call } from '../call.ts'
import type { CreateContext, CreatedSubresource } from '../resources/resource.ts'
import { json } from '../response.ts'
import { keyOf, sharedObject } from '../stored-object.ts'
import { apiError } from '../wire/api-error.ts'
import { checkFields, fieldValidationOf } from '../write-options.ts'
import { admit, dryRunOf, setNamespace, writeContext } from './write.ts'

/** POST to a subresource with a kind of its own; nothing is stored. */
export async function createSubresource(call: Call, subresource: CreatedSubresource): Promise<ApiResponse> {
  const { core, resource, path, query, request, warnings } = call
  // Nothing is written either way, but the option must be right.
  dryRunOf(call, 'CreateOptions')
  const ref = { ...subresource.kind, plural: '', namespaced: resource.namespaced }
  const validation = fieldValidationOf(query, 'CreateOptions')
  const body = readBody(request, ref.kind)
  const object = requireObject(body.value, ref)
  const checked = { object, duplicates: body.duplicates, typed: body.typed }
  warnings.push(...checkFields(core.schemas, validation, ref, checked, text => cannotBeHandled(ref, text)))
  setNamespace(call, object)
  const stored = core.store.get(keyOf(resource, path.namespace, path.name))
  if (!stored) throw apiError.notFound(resource, path.name)
  const parent = sharedObject(stored)
  const context: CreateContext = {
    ...writeContext(call),
    reader: core.reader,
    random: core.random,
    ...(core.tokenIssuer && { tokenIssuer: core.tokenIssuer }),
    warn: text => warnings.push(text),
  }
  subresource.prepare(object, parent, context)
  const errors = subresource.validate(object)
  if (errors.length > 0) throw apiError.invalid(ref, '', errors)
  admit(call, { operation: 'CREATE', name: path.name, object })
  return json(201, await subresource.create(object, parent, context))
}
