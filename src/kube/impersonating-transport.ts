import type { Transport } from './transport.ts'

/**
 * The same connections, acting as another user, as `kubectl --as` does. The API adds system:authenticated by itself, and
 * answers 403 to who may not impersonate.
 */
export function impersonating(transport: Transport, user: string, group: string): Transport {
  return {
    request: request =>
      transport.request({
        ...request,
        headers: { ...request.headers, 'impersonate-user': user, 'impersonate-group': group },
      }),
    closeConnections: () => transport.closeConnections(),
  }
}
