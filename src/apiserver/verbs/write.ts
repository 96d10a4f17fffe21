/** What create, update, patch and delete have in common. */
import type { KubeObject } from '../../kube/types.ts'
import { resources } from '../../kube/types.ts'
import type { AdmissionRequest } from '../access/access.ts'
import { cannotBeHandled, readBody, requireObject } from '../body.ts'
import type { Call } from '../call.ts'
import type { WriteContext } from '../resources/resource.ts'
import { ApiError, apiError, groupResource } from '../wire/api-error.ts'
import { checkFields, fieldValidationOf, isDryRun } from '../write-options.ts'

/** The request's body as an object of the resource; unknown fields are refused or warned about. */
export function readObject(call: Call, optionsKind: 'CreateOptions' | 'UpdateOptions'): KubeObject {
  const { resource, query } = call
  const validation = fieldValidationOf(query, optionsKind)
  const body = readBody(call.request, resource.kind)
  const object = requireObject(body.value, resource)
  const checked = { object, duplicates: body.duplicates, typed: body.typed }
  call.warnings.push(
    ...checkFields(call.core.schemas, validation, resource, checked, text => cannotBeHandled(resource, text)),
  )
  return object
}

export const dryRunOf = (call: Call, optionsKind: string) => isDryRun(call.query, optionsKind)

export function writeContext({ core, user, path }: Call): WriteContext {
  return { user, now: core.clock.now(), subresource: path.subresource, reader: core.reader }
}

/** Throws ApiError 403. */
export function admit(
  call: Call,
  request: Pick<AdmissionRequest, 'operation' | 'name' | 'object' | 'oldObject'>,
): void {
  const { resource, path, user } = call
  call.core.access.admit({
    group: resource.group,
    version: resource.version,
    resource: resource.plural,
    subresource: path.subresource,
    namespace: path.namespace,
    user,
    ...request,
  })
}

/** An object's namespace is that of the path. Throws ApiError 400 when the body says otherwise. */
export function setNamespace({ resource, path }: Call, object: KubeObject): void {
  const { metadata } = object
  if (!resource.namespaced) return
  if (metadata.namespace && metadata.namespace !== path.namespace)
    throw apiError.badRequest(
      'the namespace of the provided object does not match the namespace sent on the request',
    )
  object.metadata = { ...metadata, namespace: path.namespace }
}

/** New content needs a namespace that is there and stays. Throws ApiError 404 or 403. */
export function requireNamespace({ core, resource, path }: Call, name: string): void {
  if (!resource.namespaced || !core.resources.find(resources.namespaces)) return
  const namespace = core.reader.get(resources.namespaces, path.namespace)
  if (!namespace) throw apiError.notFound(resources.namespaces, path.namespace)
  if (!namespace.metadata.deletionTimestamp) return
  const why = `unable to create new content in namespace ${path.namespace} because it is being terminated`
  throw new ApiError(403, 'Forbidden', `${groupResource(resource)} "${name}" is forbidden: ${why}`, {
    name,
    ...(resource.group && { group: resource.group }),
    kind: resource.plural,
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${path.namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  })
}

/** When what was written now ends by itself, in milliseconds since the epoch. */
export function expiryOf({ core, resource }: Call): { expiresAt?: number } {
  return resource.timeToLiveSeconds === undefined
    ? {}
    : { expiresAt: core.clock.now() + resource.timeToLiveSeconds * 1000 }
}
