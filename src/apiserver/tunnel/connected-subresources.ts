import type { ResourcePath } from '../request-info.ts'

/** A subresource that leads to a kubelet: a request for it is passed on, nothing is stored. */
export interface ConnectedSubresource {
  /** As discovery tells it. */
  kind: { group: string; version: string; kind: string }
  verbs: readonly string[]
}

const streamed = (kind: string): ConnectedSubresource => ({
  kind: { group: '', version: 'v1', kind },
  verbs: ['create', 'get'],
})

const proxied = (kind: string): ConnectedSubresource => ({
  kind: { group: '', version: 'v1', kind },
  verbs: ['create', 'delete', 'get', 'patch', 'update'],
})

const byResource: Readonly<Record<string, Readonly<Record<string, ConnectedSubresource>>>> = {
  pods: {
    attach: streamed('PodAttachOptions'),
    exec: streamed('PodExecOptions'),
    log: { kind: { group: '', version: 'v1', kind: 'Pod' }, verbs: ['get'] },
    portforward: streamed('PodPortForwardOptions'),
    proxy: proxied('PodProxyOptions'),
  },
  services: { proxy: proxied('ServiceProxyOptions') },
  nodes: { proxy: proxied('NodeProxyOptions') },
}

/** Those of one resource, by name. */
export function connectedSubresources(
  group: string,
  plural: string,
): Readonly<Record<string, ConnectedSubresource>> {
  return group === '' && Object.hasOwn(byResource, plural) ? (byResource[plural] ?? {}) : {}
}

export function connectedSubresource(
  path: Pick<ResourcePath, 'group' | 'plural' | 'subresource'>,
): ConnectedSubresource | undefined {
  const known = connectedSubresources(path.group, path.plural)
  return Object.hasOwn(known, path.subresource) ? known[path.subresource] : undefined
}

/** Whether a request may take as long as it likes, as kube-apiserver's long-running requests: it holds no common seat. */
export function isTunnel(path: ResourcePath | undefined): boolean {
  return path !== undefined && path.name !== '' && connectedSubresource(path) !== undefined
}
