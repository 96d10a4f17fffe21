/** What the controller writes into a policy's status. */
import { sameJson } from '../kube/json.ts'
import type {
  CertificatePolicy,
  CertificatePolicyStatus,
  PolicyCondition,
  ShadowReport,
} from '../kube/rollcall/certificate-policy/spec.ts'
import type { Standing } from './policy-set.ts'

/** The next status, or that it says all this already. `onlyReport`: nothing but a shadow's counts would change. */
export function statusOf(
  { metadata, status: before = {}, spec }: CertificatePolicy,
  standing: readonly Standing[],
  report: ShadowReport | undefined,
  now: number,
): { status: CertificatePolicyStatus; onlyReport: boolean } | 'unchanged' {
  const { generation } = metadata
  const conditions = standing.map(next =>
    conditionOf(
      next,
      before.conditions?.find(({ type }) => type === next.type),
      generation,
      now,
    ),
  )
  const shadow = spec?.shadowOf === undefined ? undefined : (report ?? before.shadow)
  const status: CertificatePolicyStatus = {
    ...(generation !== undefined && { observedGeneration: generation }),
    conditions,
    ...(shadow && { shadow }),
  }
  if (sameJson(status, before)) return 'unchanged'
  return { status, onlyReport: sameJson({ ...status, shadow: null }, { ...before, shadow: null }) }
}

/** metav1.Condition: lastTransitionTime is that of the status, not of the message. */
function conditionOf(
  next: Standing,
  before: PolicyCondition | undefined,
  generation: number | undefined,
  now: number,
): PolicyCondition {
  const since = before?.status === next.status ? before.lastTransitionTime : undefined
  return {
    ...next,
    ...(generation !== undefined && { observedGeneration: generation }),
    lastTransitionTime: since ?? new Date(now).toISOString().replace(/\.\d+Z$/, 'Z'),
  }
}
