import type { Agent } from 'node:http'
import { type AgentOptions, Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { type ConnectionOptions, connect, createSecureContext } from 'node:tls'
import { RollcallError } from '../errors.ts'
import { readTokenKey } from '../keys/token-key.ts'
import { Agent as HttpAgent, request as httpRequest } from './node-http.ts'
import type { ConnectionConfig } from './transport.ts'

/** Connections to one server with one credential, kept open between requests. */
export interface HttpConnections {
  agent: Agent
  request: typeof httpRequest
  /** Scheme, host and port, and the path that comes before every path of the API. */
  base: URL
  /** Goes with every request. */
  options: { agent: Agent; servername?: string; socketPath?: string }
}

/** Makes none yet; `most` at a time. Throws what TLS has against key or certificate. */
export function httpConnections(config: ConnectionConfig, most: number): HttpConnections {
  const base = new URL(config.server)
  const { socketPath, tlsServerName: servername } = config
  const isSecure = base.protocol === 'https:'
  const pool = { keepAlive: true, maxSockets: most }
  const agent = isSecure ? new HttpsAgent({ ...pool, ...tlsOptions(config) }) : new HttpAgent(pool)
  if (config.proxyUrl !== undefined) tunnelThrough(config.proxyUrl, agent, base)
  return {
    agent,
    request: isSecure ? httpsRequest : httpRequest,
    base,
    options: {
      agent,
      ...(servername !== undefined && { servername }),
      ...(socketPath !== undefined && { socketPath }),
    },
  }
}

function tlsOptions(config: ConnectionConfig): AgentOptions & ConnectionOptions {
  const pair = config.clientCertificate
  if (pair && readTokenKey(pair.key))
    throw new RollcallError(
      'CREDENTIAL_UNAVAILABLE',
      'the key of the client certificate is in a PKCS#11 token, which only the agent uses; take another kubeconfig',
    )
  return {
    // A resumed session carries the identity and the trust of the one before: a rotated certificate would not be
    // presented, and a distrusted CA not noticed.
    maxCachedSessions: 0,
    rejectUnauthorized: !config.insecureSkipTlsVerify,
    secureContext: createSecureContext({
      ...(config.certificateAuthority && { ca: config.certificateAuthority }),
      ...(pair && { cert: pair.certificate, key: pair.key.reveal() }),
    }),
  }
}

/** Connections are made by CONNECT through a proxy, with TLS to the server itself inside. */
function tunnelThrough(proxyUrl: string, agent: Agent, base: URL): void {
  const proxy = new URL(proxyUrl)
  const send = proxy.protocol === 'https:' ? httpsRequest : httpRequest
  const target = `${base.hostname}:${base.port || 443}`
  const credential = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`
  const authorization =
    proxy.username === ''
      ? {}
      : { 'proxy-authorization': `Basic ${Buffer.from(credential).toString('base64')}` }
  agent.createConnection = (options, done) => {
    const tunnel = send({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxy.port || (proxy.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...authorization },
      agent: false,
    })
    const fail = (error: Error) => done?.(error, undefined as unknown as Duplex)
    tunnel.once('error', fail)
    tunnel.once('connect', ({ statusCode }, socket) => {
      if (statusCode === 200) return done?.(null, connect({ ...(options as ConnectionOptions), socket }))
      socket.destroy()
      fail(new Error(`the proxy ${proxy.host} answers ${statusCode} to CONNECT ${target}`))
    })
    tunnel.end()
    return undefined
  }
}
