import { csrCondition } from '../kube/csr-conditions.ts'
import type { CsrCondition } from '../kube/types.ts'
import type { Evidence } from './finding.ts'
import type { RequestFacts } from './request-facts.ts'

/** Milliseconds; Kubernetes itself deletes what was denied or failed after that long. */
const hour = 3_600_000

/** Requests that ended so within the last hour and that no later one replaced. `now` in milliseconds since the epoch. */
export function recentEndings(
  requests: readonly RequestFacts[],
  state: 'denied' | 'failed',
  now: number,
): { request: RequestFacts; condition: Partial<CsrCondition>; evidence: Evidence }[] {
  const type = state === 'denied' ? 'Denied' : 'Failed'
  return requests.flatMap(request => {
    const { name, newest, decided, created, csr } = request
    if (request.state !== state || !newest || now - (decided ?? created) >= hour) return []
    const condition: Partial<CsrCondition> = csrCondition(csr, type) ?? {}
    const { reason = 'no reason', message = 'no message', lastUpdateTime } = condition
    const evidence = {
      value: `${type}, ${reason}: ${message}`,
      source: `CertificateSigningRequest ${name} status.conditions`,
      ...(lastUpdateTime && { at: lastUpdateTime }),
    }
    return { request, condition, evidence }
  })
}
