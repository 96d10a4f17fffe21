import { formatTime } from '../../kube/time-format.ts'
import type { KubeNode, NodeCondition } from '../../kube/types.ts'
import { type KnownCertificate, type NodeSurvey, overdueShare } from '../cluster-survey.ts'

/** Types of the conditions, in Kubernetes' own form; true is well. */
export const conditionTypes = {
  client: 'ClientCertificateValid',
  serving: 'ServingCertificateValid',
} as const

/** Milliseconds that a certificate may begin in the future: no clocks agree exactly. */
const toleratedSkew = 60_000

/**
 * The conditions that are to be written: those that are known and that the Node does not have so already. Texts name no
 * age, so that each is written once for a certificate, and once more when it lapses. `now` in milliseconds since the epoch.
 */
export function changedConditions(
  node: KubeNode,
  { client, serving }: Pick<NodeSurvey, 'client' | 'serving'>,
  now: number,
): NodeCondition[] {
  const held = node.status?.conditions ?? []
  return (['client', 'serving'] as const).flatMap(kind => {
    const certificate = { client, serving }[kind]
    const before = held.find(({ type }) => type === conditionTypes[kind])
    // What is not known is left as it stands, but what it says of itself may be over: a ledger forgets what has lapsed.
    const wanted = certificate
      ? conditionOf(conditionTypes[kind], certificate, now)
      : before && lapsed(before, now)
    if (!wanted) return []
    if (before && before.reason === wanted.reason && before.message === wanted.message) return []
    const unchanged = before && before.status === wanted.status ? before.lastTransitionTime : undefined
    return [{ ...wanted, lastTransitionTime: unchanged ?? formatTime(now) }]
  })
}

function conditionOf(type: string, certificate: KnownCertificate, now: number): NodeCondition {
  const { notBefore, notAfter, expired, used, serialNumber } = certificate
  const message = `serial ${serialNumber}, valid ${notBefore} to ${notAfter}`
  if (expired) return { type, status: 'False', reason: 'Expired', message }
  if (Date.parse(notBefore) - now > toleratedSkew)
    return { type, status: 'False', reason: 'NotYetValid', message }
  const reason = used > overdueShare ? 'RenewalOverdue' : 'Issued'
  return { type, status: 'True', reason, message }
}

/** From when to when, in milliseconds since the epoch, the certificate is valid that a condition tells of. */
export function conditionLife({
  message = '',
}: NodeCondition): { notBefore: number; notAfter: number } | undefined {
  const [, from = '', to = ''] = /^serial \d+, valid (\S+) to (\S+)$/.exec(message) ?? []
  const life = { notBefore: Date.parse(from), notAfter: Date.parse(to) }
  return Number.isNaN(life.notBefore) || Number.isNaN(life.notAfter) ? undefined : life
}

/** The same, if the certificate that it tells of has ended since. */
function lapsed(condition: NodeCondition, now: number): NodeCondition | undefined {
  const life = conditionLife(condition)
  if (!life || now <= life.notAfter) return undefined
  const { type, message } = condition
  return { type, status: 'False', reason: 'Expired', ...(message !== undefined && { message }) }
}
