/** What the requests in the cluster come to as numbers: who waits, for how long, what was refused, who asks too often. */
import { csrCondition, isApproved, isDenied, isFailed, isIssued } from '../kube/csr-conditions.ts'
import { type CertificateSigningRequest, signerNames } from '../kube/types.ts'
import { createdAt, nodeOfRequest } from './request-facts.ts'

/** Upper ends of the ages by which waiting requests are counted, in seconds. The last one is open. */
const waitingAges = [
  ['under_5m', 300],
  ['5m_to_1h', 3600],
  ['1h_to_24h', 86_400],
  ['over_24h', Number.POSITIVE_INFINITY],
] as const
export type WaitingAge = (typeof waitingAges)[number][0]

const requestStates = ['pending', 'approved', 'issued', 'denied', 'failed'] as const
export type RequestState = (typeof requestStates)[number]

export interface SignerNumbers {
  stored: Record<RequestState, number>
  /** Requests that wait for an approval or denial, by age; one that a newer one of its node replaced is left out. */
  waiting: Record<WaitingAge, number>
  /**
   * Seconds that the one who waits longest has gone without an answer. A kubelet gives a request up after 15 minutes
   * and makes another (K-50): the wait goes on, so it is counted from the first of them.
   */
  longestWait: number
  /** Approved, and neither signed nor refused by the signer. */
  unsigned: number
  /** Seconds since the oldest of those was approved. */
  longestUnsigned: number
  /** Denied or Failed within `rejectedWithin`, by condition and reason. */
  rejected: { condition: 'Denied' | 'Failed'; reason: string; count: number }[]
  /** Requests within the last hour of the node (or other subject) that made most of them. */
  mostOfOneNode: number
}

/** Seconds. Requests stay for an hour after they were denied (C-40), so none is missed. */
const rejectedWithin = 900
const hour = 3600

/** What a metric may call a signer: anybody may make up a signerName, so others than Kubernetes' are one. */
export function signerLabel(signerName: string): string {
  return knownSigners.has(signerName) ? signerName : 'other'
}
const knownSigners: ReadonlySet<string> = new Set(Object.values(signerNames))
/** Of these there are numbers also while nobody asks. */
const nodeSigners = [signerNames.kubeletClient, signerNames.kubeletServing]

/**
 * By signer label. `now` in ms since the epoch; `knownReasons`: others, which anybody may make up, become `other`;
 * `settled`: how many are there beside `requests`, by their heading (settled-requests.ts).
 */
export function requestNumbers(
  requests: readonly CertificateSigningRequest[],
  now: number,
  knownReasons: ReadonlySet<string>,
  settled: ReadonlyMap<string, number> = new Map(),
): Map<string, SignerNumbers> {
  const counted = [...settled].map(([heading, count]) => {
    const [signer = '', state = ''] = heading.split(' ')
    return { signer, state: state as RequestState, count }
  })
  const signers = [...nodeSigners, ...counted.map(({ signer }) => signer)]
  const bySigner = new Map<string, CertificateSigningRequest[]>(signers.map(signer => [signer, []]))
  for (const csr of requests) {
    const label = signerLabel(csr.spec.signerName)
    const list = bySigner.get(label)
    if (list) list.push(csr)
    else bySigner.set(label, [csr])
  }
  const numbers = new Map([...bySigner].map(([signer, list]) => [signer, numbersOf(list, now, knownReasons)]))
  for (const { signer, state, count } of counted) {
    const stored = numbers.get(signer)?.stored
    if (stored) stored[state] += count
  }
  return numbers
}

function numbersOf(
  requests: readonly CertificateSigningRequest[],
  now: number,
  knownReasons: ReadonlySet<string>,
): SignerNumbers {
  const numbers: SignerNumbers = {
    stored: { pending: 0, approved: 0, issued: 0, denied: 0, failed: 0 },
    waiting: { under_5m: 0, '5m_to_1h': 0, '1h_to_24h': 0, over_24h: 0 },
    longestWait: 0,
    unsigned: 0,
    longestUnsigned: 0,
    rejected: rejectedOf(requests, now, knownReasons),
    mostOfOneNode: 0,
  }
  for (const csr of requests) {
    const state = stateOf(csr)
    numbers.stored[state]++
    if (state !== 'approved') continue
    numbers.unsigned++
    const approved = stampOf(csr, 'Approved') ?? createdAt(csr, now)
    numbers.longestUnsigned = Math.max(numbers.longestUnsigned, (now - approved) / 1000)
  }
  for (const asked of bySubject(requests).values()) {
    const recent = asked.filter(csr => now - createdAt(csr, now) < hour * 1000).length
    numbers.mostOfOneNode = Math.max(numbers.mostOfOneNode, recent)
    const wait = waitOf(asked, now)
    if (!wait) continue
    numbers.longestWait = Math.max(numbers.longestWait, wait.total)
    const age = waitingAges.find(([, end]) => wait.total < end)?.[0] ?? 'over_24h'
    numbers.waiting[age]++
  }
  return numbers
}

export function stateOf(csr: CertificateSigningRequest): RequestState {
  if (isIssued(csr)) return 'issued'
  if (isFailed(csr)) return 'failed'
  if (isDenied(csr)) return 'denied'
  return isApproved(csr) ? 'approved' : 'pending'
}

/** When a condition was set, milliseconds since the epoch. */
export function stampOf(csr: CertificateSigningRequest, type: string): number | undefined {
  const condition = csrCondition(csr, type)
  const time = condition?.lastUpdateTime ?? condition?.lastTransitionTime
  return time ? Date.parse(time) : undefined
}

/** Who a request is for. With a bootstrap token many nodes are one user, so it is the subject that counts. */
const subjects = new WeakMap<CertificateSigningRequest, string>()
function subjectOf(csr: CertificateSigningRequest): string {
  // Reading a request takes a while, and an object of the cache never changes.
  let subject = subjects.get(csr)
  if (subject === undefined) {
    subject = `${csr.spec.signerName} ${nodeOfRequest(csr) ?? csr.spec.username ?? ''}`
    subjects.set(csr, subject)
  }
  return subject
}

/** `kept` stands for the request from now on, though it cannot be read any more. */
export function keepSubject(csr: CertificateSigningRequest, kept: CertificateSigningRequest): void {
  subjects.set(kept, subjectOf(csr))
}

function bySubject(requests: readonly CertificateSigningRequest[]): Map<string, CertificateSigningRequest[]> {
  return Map.groupBy(requests, subjectOf)
}

/** Seconds that one subject has waited: undefined when its newest request was answered. */
function waitOf(requests: readonly CertificateSigningRequest[], now: number): { total: number } | undefined {
  const byAge = requests.toSorted((a, b) => createdAt(b, now) - createdAt(a, now))
  let since: number | undefined
  for (const csr of byAge) {
    if (stateOf(csr) === 'pending') since = createdAt(csr, now)
    // That an older request was put aside for a newer one is no answer to whoever waits.
    else if (csrCondition(csr, 'Denied')?.reason !== 'Superseded') break
  }
  return since === undefined ? undefined : { total: (now - since) / 1000 }
}

function rejectedOf(
  requests: readonly CertificateSigningRequest[],
  now: number,
  knownReasons: ReadonlySet<string>,
): SignerNumbers['rejected'] {
  const counts = new Map<string, SignerNumbers['rejected'][number]>()
  for (const csr of requests) {
    for (const condition of ['Denied', 'Failed'] as const) {
      const stamp = stampOf(csr, condition)
      if (stamp === undefined || now - stamp >= rejectedWithin * 1000) continue
      const given = csrCondition(csr, condition)?.reason ?? ''
      const reason = knownReasons.has(given) ? given : 'other'
      const entry = counts.get(`${condition} ${reason}`) ?? { condition, reason, count: 0 }
      entry.count++
      counts.set(`${condition} ${reason}`, entry)
    }
  }
  return [...counts.values()]
}
