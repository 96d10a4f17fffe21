import { createSecureContext } from 'node:tls'
import { Agent, type Dispatcher, ProxyAgent } from 'undici'
import { RollcallError } from '../errors.ts'
import { readTokenKey } from '../keys/token-key.ts'
import { authorization, chunks, flatten, unreachable, wholeBody } from './http-answer.ts'
import {
  type ApiRequest,
  type ApiResponse,
  type Connect,
  type ConnectionConfig,
  isWatch,
  type Transport,
} from './transport.ts'

/** Milliseconds until a connection attempt counts as failed; client-go's dialer waits as long. */
const CONNECT_TIMEOUT = 30_000
/** kube-apiserver ends a request after 60 s itself; what has sent no headers by then plus some slack is dead. */
const HEADERS_TIMEOUT = 90_000
/** Milliseconds of silence within a body that is no watch. A watch may be silent: the reflector guards it. */
const BODY_TIMEOUT = 60_000

/** Connections for requests: without a bound, a burst makes as many handshakes as it has requests. */
const REQUEST_CONNECTIONS = 16

/**
 * Connects over HTTP/1.1 with keep-alive. A watch (`watch=true` or `watch=1` in the query) gives a stream, every other
 * answer comes whole. A key or certificate that TLS cannot load fails each request, not this call.
 */
export const connectUndici: Connect = config => {
  let agents: Agents | undefined
  return {
    async request(request) {
      try {
        agents ??= createAgents(config)
        return await send(agents, config, request)
      } catch (error) {
        throw unreachable(config, error)
      }
    },
    closeConnections() {
      const old = agents
      agents = undefined
      const why = new Error('the connections were closed, to be made anew')
      old?.requests.destroy(why)
      old?.watches.destroy(why)
    },
  } satisfies Transport
}

/** A watch holds its connection for minutes, so watches have their own and never wait for one. */
interface Agents {
  requests: Dispatcher
  watches: Dispatcher
}

function createAgents(config: ConnectionConfig): Agents {
  return { requests: createAgent(config, REQUEST_CONNECTIONS), watches: createAgent(config, null) }
}

function createAgent(config: ConnectionConfig, connections: number | null): Dispatcher {
  const connect = {
    timeout: CONNECT_TIMEOUT,
    // A resumed session carries the identity and the trust of the one before: a rotated certificate would not be
    // presented, and a distrusted CA not noticed.
    maxCachedSessions: 0,
    rejectUnauthorized: !config.insecureSkipTlsVerify,
    ...(config.socketPath !== undefined && { socketPath: config.socketPath }),
    ...(config.tlsServerName && { servername: config.tlsServerName }),
    ...(config.server.startsWith('https:') && { secureContext: secureContext(config) }),
  }
  const options = {
    connections,
    // HTTP/2 sessions of Node die after about a thousand cancelled watches (nodejs/node#56306).
    allowH2: false,
    headersTimeout: HEADERS_TIMEOUT,
    bodyTimeout: BODY_TIMEOUT,
  }
  return config.proxyUrl === undefined
    ? new Agent({ ...options, connect })
    : new ProxyAgent({ ...options, uri: config.proxyUrl, requestTls: connect })
}

function secureContext(config: ConnectionConfig) {
  const pair = config.clientCertificate
  if (pair && readTokenKey(pair.key))
    throw new RollcallError(
      'CREDENTIAL_UNAVAILABLE',
      'the key of the client certificate is in a PKCS#11 token, which only the agent uses; take another kubeconfig',
    )
  return createSecureContext({
    ...(config.certificateAuthority && { ca: config.certificateAuthority }),
    ...(pair && { cert: pair.certificate, key: pair.key.reveal() }),
  })
}

async function send(agents: Agents, config: ConnectionConfig, request: ApiRequest): Promise<ApiResponse> {
  const base = new URL(config.server)
  const path = base.pathname.replace(/\/$/, '') + request.url
  const watching = isWatch(request.url)
  const response = await (watching ? agents.watches : agents.requests).request({
    origin: base.origin,
    path,
    method: request.method as Dispatcher.HttpMethod,
    headers: { ...request.headers, ...(await authorization(config)) },
    ...(request.body && { body: request.body }),
    ...(request.signal && { signal: request.signal }),
    ...(watching && { bodyTimeout: 0 }),
  })
  return {
    status: response.statusCode,
    headers: flatten(response.headers),
    body: watching ? chunks(config, response.body, request.signal) : await whole(response.body, request),
  }
}

/** undici's own way to all of a body is the fastest, but knows no bound. */
function whole(
  body: Dispatcher.ResponseData['body'],
  { mostBody }: Pick<ApiRequest, 'mostBody'>,
): Promise<Uint8Array> {
  return mostBody === undefined ? body.bytes() : wholeBody(body, mostBody)
}
