import { RollcallError } from '../errors.ts'
import type { ListOptions, Target, WatchOptions } from './client.ts'
import type { ResourceRef } from './types.ts'

/** The path of a collection: of one namespace, or of all when none is given. */
export function collectionPath(resource: ResourceRef, namespace?: string): string {
  const group =
    resource.group === '' ? `/api/${resource.version}` : `/apis/${resource.group}/${resource.version}`
  const scope = resource.namespaced && namespace ? `/namespaces/${segment(namespace)}` : ''
  return `${group}${scope}/${resource.plural}`
}

/** The path of one object or its subresource. Throws RollcallError USAGE for a name that no object can have. */
export function objectPath(resource: ResourceRef, target: Target): string {
  if (resource.namespaced && !target.namespace) {
    throw new RollcallError('USAGE', `${resource.kind} ${JSON.stringify(target.name)} needs a namespace`)
  }
  const path = `${collectionPath(resource, target.namespace)}/${segment(target.name)}`
  return target.subresource ? `${path}/${segment(target.subresource)}` : path
}

/** The query of a list or watch, with its `?`; empty when nothing is asked. */
export function listQuery(
  options: ListOptions & Pick<WatchOptions, 'timeoutSeconds'>,
  watch?: string,
): string {
  const query = new URLSearchParams()
  if (watch) query.set('watch', 'true')
  if (watch === 'bookmarks') query.set('allowWatchBookmarks', 'true')
  for (const name of ['labelSelector', 'fieldSelector', 'continue'] as const) {
    if (options[name]) query.set(name, options[name])
  }
  // A page after the first takes its version from the token; naming one as well is refused with 400.
  if (!options.continue) {
    if (options.resourceVersion !== undefined) query.set('resourceVersion', options.resourceVersion)
    if (options.resourceVersionMatch) query.set('resourceVersionMatch', options.resourceVersionMatch)
  }
  if (options.limit) query.set('limit', String(options.limit))
  if (options.timeoutSeconds) query.set('timeoutSeconds', String(options.timeoutSeconds))
  return query.size === 0 ? '' : `?${query}`
}

/** An empty name would address the whole collection, and `..` another one. */
function segment(name: string): string {
  if (name === '' || name === '.' || name === '..' || name.includes('/')) {
    throw new RollcallError('USAGE', `${JSON.stringify(name)} is not a name an object can have`)
  }
  return encodeURIComponent(name)
}
