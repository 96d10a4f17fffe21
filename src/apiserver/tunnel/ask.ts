import type { ApiRequest, ApiResponse } from '../../kube/transport.ts'
import type { UserInfo } from '../../kube/types.ts'
import type { Clock } from '../../ports.ts'
import { tooManyRequests } from '../response.ts'
import { ApiError } from '../wire/api-error.ts'
import { DialError } from './dial-error.ts'
import { dialKubelet, type KubeletTrust } from './dial-kubelet.ts'
import { hostPort } from './kubelet-address.ts'
import { askKubelet, type KubeletAnswer, type KubeletRequest } from './kubelet-request.ts'
import type { KubeletLocation } from './pod-location.ts'
import { TunnelCount } from './tunnel-count.ts'

/** Milliseconds in which a kubelet answers, and of silence in what is no log that is followed. */
export const PATIENCE = 60_000
const RETRY_AFTER_SECONDS = 1

/** What is asked for at a location. */
export interface Order extends Omit<KubeletRequest, 'path' | 'host'> {
  /** The kubelet's certificate is not looked at; default false. */
  insecure?: boolean
  /** Milliseconds for the answer; Infinity: as long as the client waits. */
  patience?: number
}

/** The kubelet's answer, and what gives the place back that it takes; or a refusal, when there is no place. */
export type Asked = { answer: KubeletAnswer; release: () => void } | ApiResponse

/** Rejects with DialError, or with ApiError when the client has left. */
export type Ask = (asker: Asker, location: KubeletLocation, order: Order) => Promise<Asked>

export interface Asker {
  request: ApiRequest
  user: UserInfo
}

export const isRefused = (asked: Asked): asked is ApiResponse => 'status' in asked

/** One that leaves aborts; most requests are of somebody who can. */
export const signalOf = ({ signal }: ApiRequest): AbortSignal => signal ?? new AbortController().signal

export function createAsk(trust: KubeletTrust, clock: Clock): Ask {
  const count = new TunnelCount()
  return async (
    { request, user },
    { address, path },
    { insecure = false, patience = PATIENCE, ...order },
  ) => {
    const release = count.take(address.node, user.username)
    if (!release) return tooManyRequests(RETRY_AFTER_SECONDS)
    const signal = signalOf(request)
    try {
      const connection = await dialKubelet(address, trust, { clock, signal, insecure })
      const limits = {
        clock,
        signal,
        ...(patience !== Number.POSITIVE_INFINITY && { milliseconds: patience }),
      }
      const answer = await askKubelet(connection, { ...order, path, host: hostPort(address) }, limits)
      if (answer.upgraded && order.headers.upgrade === undefined) {
        answer.connection.destroy()
        throw new DialError('malformed HTTP response: an upgrade that nobody asked for')
      }
      return { answer, release }
    } catch (error) {
      release()
      if (!signal.aborted) throw error
      throw new ApiError(499, undefined, 'the client has left')
    }
  }
}

/** Makes what the client is told of a kubelet that cannot be spoken with; throws everything else again. */
export const orDialError = (toApiError: (why: string) => ApiError) => (error: unknown) => {
  throw error instanceof DialError ? toApiError(error.message) : error
}
