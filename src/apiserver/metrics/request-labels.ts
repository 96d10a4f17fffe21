/** The labels of a request. Their values come from what is served, never from the client, so their number is bounded. */
import type { RequestInfo } from '../request-info.ts'
import type { ResourceIndex } from '../resource-index.ts'

export const requestLabelNames = [
  'verb',
  'dry_run',
  'group',
  'version',
  'resource',
  'subresource',
  'scope',
  'component',
] as const

export type RequestLabels = Record<(typeof requestLabelNames)[number], string>

/** kube-apiserver counts by HTTP method, but LIST, WATCH and DELETECOLLECTION apart. */
const verbs: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  post: 'POST',
  update: 'PUT',
  put: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
  head: 'HEAD',
  options: 'OPTIONS',
}

const healthPath = /^\/(?:healthz|livez|readyz)$/

export function requestLabels(info: RequestInfo | undefined, resources: ResourceIndex): RequestLabels {
  const path = info?.resource
  const resource = path && resources.find(path)
  const served = resource?.stored && Object.hasOwn(resource.subresources, path?.subresource ?? '')
  const subresource = served ? (path?.subresource ?? '') : healthLabel(info?.path)
  return {
    verb: (info && Object.hasOwn(verbs, info.verb) && verbs[info.verb]) || 'other',
    dry_run: info?.query.get('dryRun') === 'All' ? 'All' : '',
    group: resource?.group ?? '',
    version: resource?.version ?? '',
    resource: resource?.plural ?? '',
    subresource,
    scope: resource && info ? scopeOf(info) : '',
    component: 'apiserver',
  }
}

const healthLabel = (path = '') => (healthPath.test(path) ? path : '')

/** Kubernetes' CleanScope. */
function scopeOf({ verb, resource }: RequestInfo): string {
  if (resource?.name || verb === 'create') return 'resource'
  return resource?.namespace ? 'namespace' : 'cluster'
}
