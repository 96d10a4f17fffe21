import type { ApiRequest, ApiResponse, Peer } from '../kube/transport.ts'
import type { Clock, Disk, Log } from '../ports.ts'
import type { Certificate } from '../x509/certificate.ts'
import { type Caller, callerOf } from './caller.ts'
import { type NodeAccess, type NodeRequest, nodeRequestOf } from './node-access.ts'
import { containerLogs } from './node-logs.ts'
import { type NodePods, podList } from './node-pods.ts'
import { plainText } from './node-response.ts'
import { NodeStreams } from './streaming/node-streams.ts'
import type { TokenCallers } from './token-callers.ts'

export interface NodeApiOptions {
  clock: Clock
  disk: Disk
  log: Log
  access: NodeAccess
  /** The CAs that callers are verified with, as they are now. */
  callerRoots(): Promise<readonly Certificate[]>
  /** Absent: certificates alone tell who calls. */
  tokens?: TokenCallers
  /** Absent: the node runs none. */
  pods?: NodePods
  /** Text in Prometheus' format. */
  metrics(): Promise<string>
}

/**
 * The node's HTTPS API, as far as the kubelet's is served here: health, metrics, pods, logs, exec, attach and
 * portForward, each only for whom the API server allows it (H-2). Never rejects.
 */
export function createNodeApi(
  options: NodeApiOptions,
): (request: ApiRequest, peer: Peer) => Promise<ApiResponse> {
  const { clock, disk, log, access, pods } = options
  const streams = new NodeStreams({ pods, clock })

  return async (request, peer) => {
    try {
      const target = parseTarget(request.url)
      if (!target) return plainText(400, 'Bad Request')
      const caller = await authenticate(request, peer)
      if (!caller.ok) {
        log.info('a caller of the node could not be authenticated', {
          why: caller.why,
          from: peer.remoteAddress,
        })
        return plainText(401, 'Unauthorized')
      }
      const wanted = nodeRequestOf(request.method, target.path)
      const refusal = await refusalOf(caller.user, wanted)
      return refusal ?? (await serve(request, target))
    } catch (error) {
      log.error('a request to the node failed', { error: String(error) })
      return plainText(500, 'Internal Server Error')
    }
  }

  /** H-2: the certificate, then the token; a bad one of either does not hide a good one of the other. */
  async function authenticate(request: ApiRequest, peer: Peer): Promise<Caller> {
    const byCertificate = callerOf(peer, await options.callerRoots(), clock.now())
    const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (byCertificate.ok || token === undefined || !options.tokens) return byCertificate
    return options.tokens.callerOf(token)
  }

  async function refusalOf(user: Parameters<NodeAccess['allows']>[0], wanted: NodeRequest) {
    const about = `(user=${user.username}, verb=${wanted.verb}, resource=nodes, subresource(s)=[${wanted.subresources.join(' ')}])`
    try {
      return (await access.allows(user, wanted)) ? undefined : plainText(403, `Forbidden ${about}`)
    } catch (error) {
      log.warn('the API cannot be asked whether a caller of the node is allowed', { error: String(error) })
      return plainText(500, `Authorization error ${about}`)
    }
  }

  async function serve(request: ApiRequest, { path, segments, query }: Target): Promise<ApiResponse> {
    const [kind = '', ...rest] = segments
    const get = (answer: () => ApiResponse | Promise<ApiResponse>) =>
      request.method === 'GET' ? answer() : plainText(405, '405: Method Not Allowed')
    const stream = { request, segments: rest, query }
    switch (`${kind}/${rest.length}`) {
      case 'healthz/0':
        return get(() => plainText(200, 'ok'))
      case 'metrics/0':
        return get(async () => plainText(200, await options.metrics(), '; version=0.0.4'))
      case 'pods/0':
      case 'runningpods/0':
        return get(() => json(podList(pods, kind === 'runningpods')))
      case 'containerLogs/3':
        return get(() => containerLogs(pods, rest, query, { clock, disk, signal: request.signal }))
      case 'exec/3':
      case 'exec/4':
        return streams.command('exec', stream)
      case 'attach/3':
      case 'attach/4':
        return streams.command('attach', stream)
      case 'portForward/2':
      case 'portForward/3':
        return streams.portForward(stream)
      default:
        log.info('a path that the node does not serve was asked for', { path })
        return plainText(404, '404 page not found\n')
    }
  }
}

interface Target {
  /** Decoded. */
  path: string
  /** Of the path, decoded; without the empty one behind a slash at the end. */
  segments: readonly string[]
  query: URLSearchParams
}

/** undefined: it can be read in more than one way, or not at all; what is asked for and what is served could differ. */
function parseTarget(url: string): Target | undefined {
  const question = url.indexOf('?')
  const raw = question < 0 ? url : url.slice(0, question)
  let segments: string[]
  try {
    segments = raw.split('/').map(decodeURIComponent)
  } catch {
    return undefined
  }
  const [root, ...rest] = segments
  if (rest.length > 1 && rest.at(-1) === '') rest.pop()
  if (root !== '' || rest.some(part => ['', '.', '..'].includes(part) && rest.length > 1)) return undefined
  if (rest.some(part => part.includes('/') || part.includes('\0'))) return undefined
  const query = new URLSearchParams(question < 0 ? '' : url.slice(question + 1))
  return { path: `/${rest.join('/')}`, segments: rest, query }
}

function json(body: object): ApiResponse {
  const headers = { 'content-type': 'application/json' }
  return { status: 200, headers, body: new TextEncoder().encode(JSON.stringify(body)) }
}
