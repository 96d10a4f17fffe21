import type { ApiResponse } from '../../kube/transport.ts'
import type { Clock } from '../../ports.ts'
import { flag } from '../request-info.ts'
import { text } from '../response.ts'
import { ApiError } from '../wire/api-error.ts'
import { type Ask, isRefused, orDialError, PATIENCE, signalOf } from './ask.ts'
import { hostPort } from './kubelet-address.ts'
import { bodyText, kubeletBody } from './kubelet-body.ts'
import { logRefusal } from './kubelet-refusal.ts'
import { passedHeaders } from './passed-headers.ts'
import type { KubeletLocation } from './pod-location.ts'
import type { TunnelMetrics } from './tunnel-metrics.ts'
import type { TunnelCall } from './tunnels.ts'

/** Characters of a kubelet's refusal that are passed on. */
const MOST_REFUSAL = 50_000

/** `pods/log`: the log comes as the kubelet sends it. Throws ApiError with the texts of kube-apiserver. */
export async function podLogs(
  { request, user, path, query }: TunnelCall,
  location: KubeletLocation | undefined,
  { ask, clock, metrics }: { ask: Ask; clock: Clock; metrics: TunnelMetrics | undefined },
): Promise<ApiResponse> {
  if (!location) return text(200, '')
  const insecure = flag(query, 'insecureSkipTLSVerifyBackend')
  metrics?.podLogs(insecure)
  // A container that is silent has no head of an answer to send either.
  const patience = flag(query, 'follow') ? Number.POSITIVE_INFINITY : PATIENCE
  const headers = passedHeaders(request.headers, ['user-agent'])
  const asked = await ask({ request, user }, location, { method: 'GET', headers, insecure, patience }).catch(
    orDialError(why => {
      if (why.includes('x509:')) metrics?.podLogsTlsFailure()
      const url = `https://${hostPort(location.address)}${location.path}`
      return new ApiError(500, undefined, `Get "${url}": ${why}`)
    }),
  )
  if (isRefused(asked)) return asked
  const { response } = asked.answer
  const limits = { clock, signal: signalOf(request) }
  const status = response.statusCode ?? 0
  if (status < 200 || status > 206) {
    const redirect = response.headers.location ?? ''
    const why = await bodyText(response, MOST_REFUSAL, { ...limits, silence: PATIENCE }).finally(
      asked.release,
    )
    // Never followed: a kubelet must not send the API server elsewhere.
    if (status >= 300 && status < 400)
      throw new ApiError(500, undefined, `Get ${JSON.stringify(redirect)}: redirects forbidden`)
    throw logRefusal(status, path.name, why)
  }
  return {
    status: 200,
    headers: {
      'content-type': 'text/plain',
      'cache-control': 'no-cache, private',
      'x-content-type-options': 'nosniff',
    },
    body: kubeletBody(response, { ...limits, silence: patience }, asked.release),
  }
}
