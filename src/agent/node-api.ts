import type { ApiRequest, ApiResponse, Peer } from '../kube/transport.ts'
import type { Clock, Log } from '../ports.ts'
import type { Certificate } from '../x509/certificate.ts'
import { callerOf } from './caller.ts'
import { type NodeAccess, nodeRequestOf } from './node-access.ts'

export interface NodeApiOptions {
  clock: Clock
  log: Log
  access: NodeAccess
  /** The CAs that callers are verified with, as they are now. */
  callerRoots(): Promise<readonly Certificate[]>
  /** Text in Prometheus' format. */
  metrics(): Promise<string>
}

/** The node's HTTPS API: `/healthz` and `/metrics`, each only for whom the API server allows it (H-2). Never rejects. */
export function createNodeApi(
  options: NodeApiOptions,
): (request: ApiRequest, peer: Peer) => Promise<ApiResponse> {
  const { clock, log, access } = options
  return async (request, peer) => {
    try {
      const caller = callerOf(peer, await options.callerRoots(), clock.now())
      if (!caller.ok) {
        log.info('a caller of the node could not be authenticated', {
          why: caller.why,
          from: peer.remoteAddress,
        })
        return text(401, 'Unauthorized')
      }
      const [path = '/'] = request.url.split('?', 1)
      const wanted = nodeRequestOf(request.method, path)
      const about = `(user=${caller.user.username}, verb=${wanted.verb}, resource=nodes, subresource(s)=[${wanted.subresources.join(' ')}])`
      let allowed: boolean
      try {
        allowed = await access.allows(caller.user, wanted)
      } catch (error) {
        log.warn('the API cannot be asked whether a caller of the node is allowed', { error: String(error) })
        return text(500, `Authorization error ${about}`)
      }
      return allowed ? await serve(request.method, path) : text(403, `Forbidden ${about}`)
    } catch (error) {
      log.error('a request to the node failed', { error: String(error) })
      return text(500, 'Internal Server Error')
    }
  }

  async function serve(method: string, path: string): Promise<ApiResponse> {
    if (path !== '/healthz' && path !== '/metrics') return text(404, '404 page not found\n')
    if (method !== 'GET') return text(405, '405: Method Not Allowed')
    return path === '/healthz' ? text(200, 'ok') : text(200, await options.metrics(), '; version=0.0.4')
  }
}

function text(status: number, body: string, parameters = ''): ApiResponse {
  return {
    status,
    headers: { 'content-type': `text/plain${parameters}; charset=utf-8` },
    body: new TextEncoder().encode(body),
  }
}
