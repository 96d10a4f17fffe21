import type { ReasonCode } from '../approve/verdict.ts'
import { csrCondition } from '../kube/csr-conditions.ts'
import { formatTime } from '../kube/time-format.ts'
import { CONTROLLER_PATIENCE } from '../survey/csr-facts.ts'
import type { Evidence } from './finding.ts'
import type { RequestFacts } from './request-facts.ts'

export interface ObjectedRequest {
  request: RequestFacts
  /** What stands against it. */
  message: string
  evidence: Evidence[]
}

/** Milliseconds that a denial is looked at: Kubernetes deletes the request after an hour (C-40). */
const denialsOf = 3_600_000

/** The newest serving requests that wait or were denied, against which one of these reasons stands. */
export function objectedRequests(
  requests: readonly RequestFacts[],
  codes: readonly ReasonCode[],
  now: number,
): ObjectedRequest[] {
  return requests.flatMap(request => {
    const { objection, newest, name } = request
    if (!newest || !objection || !codes.includes(objection.code) || !isStuck(request, now)) return []
    const object = `CertificateSigningRequest ${name}`
    const evidence: Evidence[] = [
      { value: objection.message, source: `${object} spec, compared with the Nodes` },
      stateEvidence(request, object),
    ]
    return { request, message: objection.message, evidence }
  })
}

function isStuck({ state, created, decided }: RequestFacts, now: number): boolean {
  if (state === 'undecided') return now - created > CONTROLLER_PATIENCE
  return state === 'denied' && now - (decided ?? created) < denialsOf
}

function stateEvidence({ csr, state, created }: RequestFacts, object: string): Evidence {
  const source = `${object} status.conditions`
  if (state === 'undecided') return { value: 'undecided', source, at: formatTime(created) }
  const { reason = 'no reason', message = 'no message', lastUpdateTime } = csrCondition(csr, 'Denied') ?? {}
  return { value: `Denied, ${reason}: ${message}`, source, ...(lastUpdateTime && { at: lastUpdateTime }) }
}
