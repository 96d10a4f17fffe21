/** A request for a connected subresource, from the dispatcher to the tunnels. */
import type { ApiResponse } from '../../kube/transport.ts'
import { wantedUpgrade } from '../../kube/upgrade/upgrade-headers.ts'
import type { Core } from '../call.ts'
import type { ResourcePath } from '../request-info.ts'
import { ApiError } from '../wire/api-error.ts'
import { type ConnectedSubresource, connectedSubresource } from './connected-subresources.ts'
import type { TunnelCall, Tunnels } from './tunnels.ts'

export interface Connection extends ConnectedSubresource {
  tunnels: Tunnels
}

/** Which connected subresource the path names, where this API has tunnels. */
export function connectsAs({ tunnels }: Core, path: ResourcePath): Connection | undefined {
  const connected = tunnels && path.name !== '' ? connectedSubresource(path) : undefined
  return tunnels && connected && { ...connected, tunnels }
}

/**
 * Passes the request on. A WebSocket begins as a GET, which may only read: whoever runs a command, attaches or forwards
 * a port needs `create`, however he asks (1.35's AuthorizePodWebsocketUpgradeCreatePermission); through nodes/proxy too,
 * where Kubernetes is content with `get`. Throws ApiError.
 */
export async function connect(
  call: TunnelCall & { core: Core },
  { verbs, tunnels }: Connection,
  verb: string,
): Promise<ApiResponse> {
  if (!verbs.includes(verb))
    throw new ApiError(
      405,
      'MethodNotAllowed',
      'the server does not allow this method on the requested resource',
      {},
    )
  const { core, user, path, request } = call
  if (verb !== 'create' && request.upgradable && wantedUpgrade(request.headers)) {
    const { group, version, plural, subresource, namespace, name } = path
    const object = { group, version, resource: plural, subresource, name, ...(namespace && { namespace }) }
    core.access.requireAllowed({ user, verb: 'create', ...object })
  }
  return tunnels.answer(call)
}
