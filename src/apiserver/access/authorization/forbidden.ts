import { type ApiError, apiError } from '../../wire/api-error.ts'
import type { Attributes } from '../access.ts'
import { quoted } from '../go-quote.ts'

/** `User "u" cannot list resource "nodes" in API group "" at the cluster scope`, exactly as Kubernetes says it. */
function forbiddenMessage(attributes: Attributes): string {
  const who = `User ${quoted(attributes.user.username)} cannot ${attributes.verb}`
  if (attributes.resource === undefined) return `${who} path ${quoted(attributes.path ?? '')}`
  const { resource, subresource, group = '', namespace } = attributes
  const what = subresource ? `${resource}/${subresource}` : resource
  const where = namespace ? `in the namespace ${quoted(namespace)}` : 'at the cluster scope'
  return `${who} resource ${quoted(what)} in API group ${quoted(group)} ${where}`
}

/** The 403 for a request that no authorizer allowed; `reason` is theirs and may be empty. */
export function forbidden(attributes: Attributes, reason: string): ApiError {
  const message = forbiddenMessage(attributes)
  const why = reason === '' ? message : `${message}: ${reason}`
  if (attributes.resource === undefined) return apiError.forbiddenPath(why)
  const resource = { group: attributes.group ?? '', plural: attributes.resource, kind: '' }
  return apiError.forbidden(resource, attributes.name || undefined, why)
}
