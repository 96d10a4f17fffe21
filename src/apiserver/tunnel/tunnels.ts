/** Requests that lead to a kubelet: pods/log, pods/exec, pods/attach, pods/portforward and nodes/proxy. */
import type { IncomingMessage } from 'node:http'
import type { ApiRequest, ApiResponse } from '../../kube/transport.ts'
import { splice } from '../../kube/upgrade/splice.ts'
import {
  bringsBody,
  switchingProtocols,
  upgradeRequestHeaders,
  wantedUpgrade,
} from '../../kube/upgrade/upgrade-headers.ts'
import type { Clock } from '../../ports.ts'
import type { ObjectReader } from '../reader.ts'
import { flag, type ResourcePath } from '../request-info.ts'
import { text, tooManyRequests } from '../response.ts'
import { ApiError, apiError } from '../wire/api-error.ts'
import { DialError } from './dial-error.ts'
import { dialKubelet, type KubeletTrust } from './dial-kubelet.ts'
import { hostPort } from './kubelet-address.ts'
import { bodyText, kubeletBody } from './kubelet-body.ts'
import { logRefusal } from './kubelet-refusal.ts'
import { askKubelet, type KubeletAnswer } from './kubelet-request.ts'
import { proxiedNode, proxiedPath, proxiedRedirect, requireKubeletPort } from './node-proxy.ts'
import {
  execLocation,
  type KubeletLocation,
  kubeletOf,
  logLocation,
  portForwardLocation,
} from './pod-location.ts'
import { TunnelCount } from './tunnel-count.ts'
import type { TunnelMetrics } from './tunnel-metrics.ts'

export interface TunnelOptions extends KubeletTrust {
  clock: Clock
  reader: ObjectReader
  /** --kubelet-preferred-address-types. */
  addressTypes: readonly string[]
  metrics?: TunnelMetrics
}

/** One authorized request for a connected subresource. */
export interface TunnelCall {
  request: ApiRequest
  path: ResourcePath
  query: URLSearchParams
}

export interface Tunnels {
  /** Throws ApiError. An answer with `takeOver` is an upgrade that the kubelet has agreed to. */
  answer(call: TunnelCall): Promise<ApiResponse>
}

/** Milliseconds in which a kubelet answers, and of silence in what is no log that is followed. */
const PATIENCE = 60_000
/** Characters of a kubelet's refusal that are passed on. */
const MOST_REFUSAL = 50_000
const RETRY_AFTER_SECONDS = 1

const proxiedRequestHeaders = ['accept', 'accept-encoding', 'content-type', 'range', 'user-agent']
const proxiedAnswerHeaders = [
  'content-type',
  'content-encoding',
  'content-range',
  'cache-control',
  'last-modified',
]

export function createTunnels(options: TunnelOptions): Tunnels {
  const tunnels = new KubeletTunnels(options)
  return { answer: call => tunnels.answer(call) }
}

/** Why a tunnel that somebody waits for is given up: nobody does any more. */
const left = new Error('the client has left')

class KubeletTunnels implements Tunnels {
  readonly #options: TunnelOptions
  readonly #count = new TunnelCount()

  constructor(options: TunnelOptions) {
    this.#options = options
  }

  async answer(call: TunnelCall): Promise<ApiResponse> {
    const { reader, addressTypes } = this.#options
    const { path, query } = call
    const target = { namespace: path.namespace, name: path.name, query }
    switch (path.subresource) {
      case 'log':
        return this.#log(call, logLocation(reader, target, addressTypes))
      case 'exec':
      case 'attach':
        return this.#upgrade(call, execLocation(reader, path.subresource, target, addressTypes))
      case 'portforward':
        return this.#upgrade(call, portForwardLocation(reader, target, addressTypes))
      default:
        return this.#proxy(call)
    }
  }

  async #log(
    { request, path, query }: TunnelCall,
    location: KubeletLocation | undefined,
  ): Promise<ApiResponse> {
    if (!location) return text(200, '')
    const { metrics } = this.#options
    const insecure = flag(query, 'insecureSkipTLSVerifyBackend')
    metrics?.podLogs(insecure)
    const follow = flag(query, 'follow')
    const order = { method: 'GET', path: location.path, headers: passed(request.headers, ['user-agent']) }
    const asked = await this.#ask(request, location, order, {
      insecure,
      patience: follow ? undefined : PATIENCE,
    }).catch((error: unknown) => {
      if (!(error instanceof DialError)) throw error
      if (error.message.includes('x509:')) metrics?.podLogsTlsFailure()
      const url = `https://${hostPort(location.address)}${location.path}`
      throw new ApiError(500, undefined, `Get "${url}": ${error.message}`)
    })
    if ('status' in asked) return asked
    const { answer, release } = asked
    const { response } = answer
    const status = response.statusCode ?? 0
    const { location: redirect } = response.headers
    if (status < 200 || status > 206) {
      const refusal = await this.#text(response, request).finally(release)
      // Never followed: a kubelet must not send the API server elsewhere.
      if (status >= 300 && status < 400)
        throw new ApiError(500, undefined, `Get ${JSON.stringify(redirect ?? '')}: redirects forbidden`)
      throw logRefusal(status, path.name, refusal)
    }
    return {
      status: 200,
      headers: {
        'content-type': 'text/plain',
        'cache-control': 'no-cache, private',
        'x-content-type-options': 'nosniff',
      },
      body: this.#body(response, request, follow ? undefined : PATIENCE, release),
    }
  }

  /** Both sides speak SPDY or WebSocket with each other; nothing of it is looked at here. */
  async #upgrade({ request }: TunnelCall, location: KubeletLocation): Promise<ApiResponse> {
    const upgrade = wantedUpgrade(request.headers)
    if (!upgrade || !request.upgradable) throw apiError.badRequest('Upgrade request required')
    if (bringsBody(request.headers))
      throw apiError.badRequest('a request for an upgrade must not have a body')
    const order = {
      method: request.method,
      path: location.path,
      headers: upgradeRequestHeaders(request.headers),
    }
    const asked = await this.#ask(request, location, order, { patience: PATIENCE }).catch(
      (error: unknown) => {
        if (!(error instanceof DialError)) throw error
        throw new ApiError(500, undefined, `error dialing backend: ${error.message}`)
      },
    )
    if ('status' in asked) return asked
    const { answer, release } = asked
    if (!answer.upgraded) {
      const { statusCode = 0, headers } = answer.response
      const refusal = await this.#text(answer.response, request).finally(release)
      if (statusCode < 400)
        throw new ApiError(500, undefined, `invalid upgrade response: status code ${statusCode}`)
      const response = text(statusCode, refusal)
      if (/^application\/json\b/.test(headers['content-type'] ?? ''))
        response.headers['content-type'] = 'application/json'
      return response
    }
    return this.#takeOver(upgrade, answer, release)
  }

  #takeOver(upgrade: string, answer: KubeletAnswer & { upgraded: true }, release: () => void): ApiResponse {
    const { response, connection, head } = answer
    const { clock } = this.#options
    connection.once('close', release)
    connection.on('error', () => connection.destroy())
    return {
      status: 101,
      headers: {},
      body: new Uint8Array(),
      takeOver(client, early) {
        client.on('error', () => client.destroy())
        if (client.destroyed) return void connection.destroy()
        client.write(switchingProtocols(upgrade, response.headers))
        if (head.length > 0) client.write(head)
        if (early.length > 0) connection.write(early)
        splice(client, connection, clock)
      },
    }
  }

  async #proxy(call: TunnelCall): Promise<ApiResponse> {
    const { reader, addressTypes } = this.#options
    const { request } = call
    const node = proxiedNode(call.path.name)
    const address = kubeletOf(reader, node.name, addressTypes)
    requireKubeletPort(node, address)
    const location = { address, path: proxiedPath(request.url) }
    if (request.upgradable && wantedUpgrade(request.headers)) return this.#upgrade(call, location)
    const order = {
      method: request.method,
      path: location.path,
      headers: passed(request.headers, proxiedRequestHeaders),
      ...(request.body && { body: request.body }),
    }
    const asked = await this.#ask(request, location, order, { patience: PATIENCE }).catch(
      (error: unknown) => {
        if (!(error instanceof DialError)) throw error
        throw apiError.unavailable(`error trying to reach service: ${error.message}`)
      },
    )
    if ('status' in asked) return asked
    const { response } = asked.answer
    const redirect = response.headers.location
    const seen = redirect && proxiedRedirect(redirect, call.path.name, location.path)
    const { statusCode = 0 } = response
    const empty = statusCode === 204 || statusCode === 304
    if (empty) response.destroy()
    const body = this.#body(response, request, PATIENCE, asked.release)
    return {
      // What is no status of an answer would break the connection to the client.
      status: statusCode >= 200 && statusCode < 600 ? statusCode : 502,
      headers: {
        ...passed(response.headers, proxiedAnswerHeaders),
        // What a node serves must not act as a page of the API server.
        'x-content-type-options': 'nosniff',
        'content-security-policy': 'sandbox',
        ...(seen && { location: seen }),
      },
      body: empty ? new Uint8Array() : body,
    }
  }

  /** The kubelet's answer, and what gives the place back that it takes; or a refusal, when there is no place. */
  async #ask(
    request: ApiRequest,
    { address }: KubeletLocation,
    order: { method: string; path: string; headers: Record<string, string | string[]>; body?: Uint8Array },
    { insecure = false, patience }: { insecure?: boolean; patience: number | undefined },
  ): Promise<{ answer: KubeletAnswer; release: () => void } | ApiResponse> {
    const { clock } = this.#options
    const release = this.#count.take(address.node)
    if (!release) return tooManyRequests(RETRY_AFTER_SECONDS)
    const signal = request.signal ?? new AbortController().signal
    try {
      const connection = await dialKubelet(address, this.#options, { clock, signal, insecure })
      const limits = { clock, signal, ...(patience !== undefined && { milliseconds: patience }) }
      const answer = await askKubelet(connection, { ...order, host: hostPort(address) }, limits)
      if (answer.upgraded && order.headers.upgrade === undefined) {
        answer.connection.destroy()
        throw new DialError('malformed HTTP response: an upgrade that nobody asked for')
      }
      return { answer, release }
    } catch (error) {
      release()
      if (!signal.aborted) throw error
      throw new ApiError(499, undefined, left.message)
    }
  }

  #body(response: IncomingMessage, { signal }: ApiRequest, silence: number | undefined, done: () => void) {
    const options = { clock: this.#options.clock, signal: signal ?? new AbortController().signal, silence }
    return kubeletBody(response, options, done)
  }

  #text(response: IncomingMessage, { signal = new AbortController().signal }: ApiRequest): Promise<string> {
    return bodyText(response, MOST_REFUSAL, { clock: this.#options.clock, signal, silence: PATIENCE })
  }
}

function passed(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  names: readonly string[],
): Record<string, string> {
  return Object.fromEntries(
    names.flatMap(name => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
}
