/** From an authenticated request to the verb that answers it: authorize, find the resource, call. */
import { parseFieldSelector, requiredValue } from '../kube/selectors.ts'
import type { ApiRequest, ApiResponse } from '../kube/transport.ts'
import type { UserInfo } from '../kube/types.ts'
import type { Attributes } from './access/access.ts'
import { requireSize } from './body.ts'
import type { Call, Core } from './call.ts'
import type { RequestInfo, ResourcePath } from './request-info.ts'
import type { CreatedSubresource, Resource, StoredResource, Verb } from './resources/resource.ts'
import { pageNotFound } from './response.ts'
import { connect, connectsAs } from './tunnel/connect.ts'
import { create } from './verbs/create.ts'
import { createSubresource } from './verbs/create-subresource.ts'
import { deleteOne } from './verbs/delete.ts'
import { deleteCollection } from './verbs/delete-collection.ts'
import { get } from './verbs/get.ts'
import { list } from './verbs/list.ts'
import { patch } from './verbs/patch.ts'
import { review } from './verbs/review.ts'
import { update } from './verbs/update.ts'
import { watch } from './verbs/watch.ts'
import { ApiError, apiError } from './wire/api-error.ts'
import { warningHeader } from './write-options.ts'

const verbs: Record<Verb, (call: Call) => ApiResponse | Promise<ApiResponse>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: deleteOne,
  deletecollection: deleteCollection,
}

/** Throws ApiError or another error that has a Status (response.ts). */
export async function dispatch(
  core: Core,
  request: ApiRequest,
  info: RequestInfo,
  path: ResourcePath,
  user: UserInfo,
): Promise<ApiResponse> {
  core.access.requireAllowed(attributesOf(user, info, path))
  const resource = core.resources.find(path)
  if (!resource) {
    if (!core.resources.serves(path.group, path.version)) return pageNotFound()
    throw apiError.noSuchResource()
  }
  requireSize(request, core.limits.bodyBytes)
  const warnings: string[] = resource.stored && resource.deprecation ? [resource.deprecation] : []
  const call = {
    core,
    request,
    path: withoutForeignNamespace(resource, path),
    query: info.query,
    user,
    warnings,
  }
  requireScope(resource, path, info.verb)
  const connected = connectsAs(core, path)
  if (connected) return connect(call, connected, info.verb)
  const response = resource.stored
    ? await answerStored({ ...call, resource }, info.verb)
    : review(call, requireReview(resource, path, info.verb))
  const warning = warningHeader(warnings)
  if (warning) response.headers.warning = warning
  return response
}

function answerStored(call: Call, verb: string): ApiResponse | Promise<ApiResponse> {
  const { resource, path } = call
  const created = createdSubresource(resource, path.subresource)
  if (!created) return verbs[servedVerb(resource, path, verb)](call)
  if (verb !== 'create') throw methodNotAllowed()
  return createSubresource(call, created)
}

function createdSubresource(
  { createdSubresources = {} }: StoredResource,
  name: string,
): CreatedSubresource | undefined {
  return Object.hasOwn(createdSubresources, name) ? createdSubresources[name] : undefined
}

/** What authorizers see, as in Kubernetes: a list of one name by field selector has that name. */
function attributesOf(user: UserInfo, { verb, query }: RequestInfo, path: ResourcePath): Attributes {
  const { group, version, plural, subresource, namespace } = path
  const selector = path.name ? '' : (query.get('fieldSelector') ?? '')
  const name = path.name || (selector && selectedName(selector))
  return {
    user,
    verb,
    group,
    version,
    resource: plural,
    ...(subresource && { subresource }),
    ...(namespace && { namespace }),
    ...(name && { name }),
    ...(selector && { fieldSelector: selector }),
  }
}

/** A selector that cannot be parsed names nothing; the verb refuses it later. */
function selectedName(selector: string): string {
  try {
    return requiredValue(parseFieldSelector(selector), 'metadata.name') ?? ''
  } catch {
    return ''
  }
}

/** `/namespaces/NAME` is authorized in namespace NAME, but the Namespace itself lies in none. */
function withoutForeignNamespace(resource: Resource, path: ResourcePath): ResourcePath {
  return resource.namespaced ? path : { ...path, namespace: '' }
}

/** One object of a namespaced resource has a namespace in its path, others have none. Throws ApiError 404 or 405. */
function requireScope(resource: Resource, path: ResourcePath, verb: string): void {
  const inNamespace = path.namespace !== '' && path.plural !== 'namespaces'
  if (!resource.namespaced && inNamespace) throw apiError.noSuchResource()
  if (!resource.namespaced || inNamespace) return
  if (path.name) throw apiError.noSuchResource()
  if (verb !== 'list' && verb !== 'watch') throw methodNotAllowed()
}

const methodNotAllowed = () =>
  new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {})

const isVerb = (verb: string): verb is Verb => Object.hasOwn(verbs, verb)

/** Throws ApiError 404 or 405. */
function servedVerb(resource: StoredResource, path: ResourcePath, verb: string): Verb {
  const served: readonly string[] = path.subresource
    ? subresourceVerbs(resource, path.subresource)
    : resource.verbs
  if (!isVerb(verb) || !served.includes(verb)) throw methodNotAllowed()
  // Of an object or of its collection, not of both.
  const ofObject = verb === 'update' || verb === 'patch'
  if ((verb === 'create' && path.name) || (ofObject && !path.name)) throw methodNotAllowed()
  return verb
}

function subresourceVerbs(resource: StoredResource, name: string): readonly string[] {
  const subresource = Object.hasOwn(resource.subresources, name) ? resource.subresources[name] : undefined
  if (!subresource) throw apiError.noSuchResource()
  return subresource.verbs
}

function requireReview<R extends Resource>(resource: R, path: ResourcePath, verb: string): R {
  if (path.name || path.subresource) throw apiError.noSuchResource()
  if (verb !== 'create') throw methodNotAllowed()
  return resource
}
