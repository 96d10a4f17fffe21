import type { ApiResponse } from '../../kube/transport.ts'
import { splice } from '../../kube/upgrade/splice.ts'
import {
  bringsBody,
  switchingProtocols,
  upgradeRequestHeaders,
  wantedUpgrade,
} from '../../kube/upgrade/upgrade-headers.ts'
import type { Clock } from '../../ports.ts'
import { text } from '../response.ts'
import { ApiError, apiError } from '../wire/api-error.ts'
import { type Ask, isRefused, orDialError, PATIENCE, signalOf } from './ask.ts'
import { bodyText } from './kubelet-body.ts'
import type { KubeletAnswer } from './kubelet-request.ts'
import type { KubeletLocation } from './pod-location.ts'
import type { TunnelCall } from './tunnels.ts'

/** Characters of a kubelet's refusal that are passed on. */
const MOST_REFUSAL = 50_000

/**
 * exec, attach and portforward: client and kubelet speak SPDY or WebSocket with each other; nothing of it is looked at
 * here. Throws ApiError with the texts of kube-apiserver.
 */
export async function upgradeTunnel(
  { request, user }: TunnelCall,
  location: KubeletLocation,
  { ask, clock }: { ask: Ask; clock: Clock },
): Promise<ApiResponse> {
  const upgrade = wantedUpgrade(request.headers)
  if (!upgrade || !request.upgradable) throw apiError.badRequest('Upgrade request required')
  if (bringsBody(request.headers)) throw apiError.badRequest('a request for an upgrade must not have a body')
  const order = { method: request.method, headers: upgradeRequestHeaders(request.headers) }
  const asked = await ask({ request, user }, location, order).catch(
    orDialError(why => new ApiError(500, undefined, `error dialing backend: ${why}`)),
  )
  if (isRefused(asked)) return asked
  const { answer, release } = asked
  if (answer.upgraded) return takeOver(upgrade, answer, release, clock)
  const { statusCode = 0, headers } = answer.response
  const limits = { clock, signal: signalOf(request), silence: PATIENCE }
  const refusal = await bodyText(answer.response, MOST_REFUSAL, limits).finally(release)
  if (statusCode < 400 || statusCode > 599)
    throw new ApiError(500, undefined, `invalid upgrade response: status code ${statusCode}`)
  const response = text(statusCode, refusal)
  if (/^application\/json\b/.test(headers['content-type'] ?? ''))
    response.headers['content-type'] = 'application/json'
  return response
}

function takeOver(
  upgrade: string,
  { response, connection, head }: KubeletAnswer & { upgraded: true },
  release: () => void,
  clock: Clock,
): ApiResponse {
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
