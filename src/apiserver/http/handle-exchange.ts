/** What becomes of a request: its body read in time and within bounds, the API asked, the answer sent. */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ApiRequest, ApiResponse, Peer } from '../../kube/transport.ts'
import { answerUpgrade } from '../../kube/upgrade/answer-upgrade.ts'
import type { Clock } from '../../ports.ts'
import type { Api } from '../api.ts'
import { defaultLimits } from '../call.ts'
import { statusResponse, tooManyRequests } from '../response.ts'
import { apiError } from '../wire/api-error.ts'
import type { BodyBudget } from './body-budget.ts'
import type { Answering, Exchange } from './exchange.ts'
import { impersonationValues } from './impersonation-values.ts'
import type { OpenConnections } from './open-connections.ts'
import { type BodyRefusal, readRequestBody } from './request-body.ts'
import { respond } from './respond.ts'

export interface Handling {
  api: Api
  clock: Clock
  /** Bytes of a request body; above it 413. */
  bodyBytes?: number
  budget: BodyBudget
  connections: OpenConnections
}

/** Milliseconds. A body is there within this. */
export const BODY_TIMEOUT = 60_000

/** One for all: a reason of its own costs each request the capture of a stack. */
const left = new Error('the client has left')

const noBody = new Uint8Array()

/** What is left of a request while its answer is sent: there are thousands of watches, each for hours. */
interface Sending {
  to: Answering
  gone: AbortController
  /** Nobody waits any more for who has its answer. */
  answered: boolean
}

/** Rejects when the answer could not be sent. */
export function handleExchange(handling: Handling, exchange: Exchange, peer: Peer): Promise<void> {
  const sending: Sending = { to: exchange.answer, gone: new AbortController(), answered: false }
  sending.to.onClose(() => {
    if (!sending.answered) sending.gone.abort(left)
  })
  return ask(handling, exchange, sending, peer).then(
    answer => answer && send(handling, answer, sending, peer),
  )
}

/** The answer; undefined when nobody waits for it any more. A body counts against the budget until then. */
async function ask(
  handling: Handling,
  exchange: Exchange,
  { gone }: Sending,
  peer: Peer,
): Promise<ApiResponse | undefined> {
  const { clock, budget, bodyBytes = defaultLimits.bodyBytes } = handling
  if (!exchange.hasBody) return answerTo(handling, exchange, noBody, gone.signal, peer)
  const share = budget.share(exchange.connection)
  try {
    const body = await readInTime(clock, bodyBytes, exchange, share, gone)
    if (gone.signal.aborted) return undefined
    return await answerTo(handling, exchange, body, gone.signal, peer)
  } finally {
    share.giveBack()
  }
}

async function send(
  { clock, connections }: Handling,
  answer: ApiResponse,
  sending: Sending,
  peer: Peer,
): Promise<void> {
  const { to, gone } = sending
  if (to.version === 1 && connections.isRetired(peer)) answer.headers.connection = 'close'
  sending.answered = answer.body instanceof Uint8Array
  const streamed = sending.answered ? undefined : connections.streaming(peer)
  try {
    await respond(to, answer, gone.signal, clock)
    sending.answered = true
  } finally {
    streamed?.()
  }
}

/** A request whose connection is to become something else; it has no body. */
export async function handleUpgrade(
  api: Api,
  { method = '', url = '', headers, rawHeaders }: IncomingMessage,
  connection: Duplex,
  head: Uint8Array,
  peer: Peer,
): Promise<void> {
  const gone = new AbortController()
  connection.on('close', () => gone.abort(left))
  connection.on('error', () => gone.abort(left))
  const asked = { method, url, headers, rawHeaders }
  const wanted = { ...apiRequest(asked, noBody, gone.signal), upgradable: true }
  await answerUpgrade(await api.handle(wanted, peer), connection, head)
}

async function answerTo(
  { api, bodyBytes = defaultLimits.bodyBytes }: Handling,
  exchange: Exchange,
  body: Uint8Array | BodyRefusal,
  gone: AbortSignal,
  peer: Peer,
): Promise<ApiResponse> {
  if (typeof body !== 'string') return api.handle(apiRequest(exchange, body, gone), peer)
  const refusal =
    body === 'no-room'
      ? tooManyRequests(defaultLimits.fairness.retryAfterSeconds)
      : statusResponse(apiError.requestTooLarge(bodyBytes).status)
  // The rest of a body that was refused is not read, so an HTTP/1.1 connection cannot be used again.
  if (exchange.answer.version === 1) refusal.headers.connection = 'close'
  return refusal
}

/** Aborts `gone` when the client left in the middle or was too slow. */
async function readInTime(
  clock: Clock,
  limit: number,
  { body, headers }: Exchange,
  share: Parameters<typeof readRequestBody>[3],
  gone: AbortController,
): Promise<Uint8Array | BodyRefusal> {
  const slow = clock.after(BODY_TIMEOUT, () => body.destroy())
  try {
    return await readRequestBody(body, headers['content-length'], limit, share)
  } catch {
    gone.abort(left)
    return noBody
  } finally {
    slow.cancel()
  }
}

function apiRequest(
  { method, url, headers, rawHeaders }: Pick<Exchange, 'method' | 'url' | 'headers' | 'rawHeaders'>,
  body: Uint8Array,
  signal: AbortSignal,
): ApiRequest {
  const given: Record<string, string> = {}
  let impersonates = false
  for (const name in headers) {
    const value = headers[name]
    if (value === undefined || name.charCodeAt(0) === 0x3a) continue
    given[name] = Array.isArray(value) ? value.join(', ') : value
    impersonates ||= name.startsWith('impersonate-')
  }
  // Without a user the other headers are an error that names them, so they are read all the same.
  if (impersonates) Object.assign(given, impersonationValues(rawHeaders))
  // HTTP/2 has no Host of its own, but says the same in a pseudo-header.
  const authority = headers[':authority']
  if (given.host === undefined && typeof authority === 'string') given.host = authority
  return { method, url, headers: given, signal, ...(body.length > 0 && { body }) }
}
