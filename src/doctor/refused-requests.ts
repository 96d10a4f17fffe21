import type { AccessAnswer } from './artifacts/cluster-artifacts.ts'
import { accessKey, questionOf } from './gather/access.ts'
import type { RequestFacts } from './request-facts.ts'

/** Requests that wait because whoever asked may not have them approved, with the answer that says so. */
export function refusedRequests(
  requests: readonly RequestFacts[],
  answers: readonly AccessAnswer[],
  purpose: 'nodeclient' | 'selfnodeclient',
): { request: RequestFacts; answer: AccessAnswer }[] {
  const known = new Map(answers.map(answer => [accessKey(answer), answer]))
  return requests.flatMap(request => {
    const question = request.state === 'undecided' ? questionOf(request) : undefined
    const answer = question?.purpose === purpose ? known.get(accessKey(question)) : undefined
    return answer && !answer.allowed ? { request, answer } : []
  })
}
