/** What a policy makes of a verdict. It can only be more careful: nothing is approved that the rules do not approve. */
import type { PolicyAction, PolicyMode } from '../kube/rollcall/certificate-policy/spec.ts'
import type { ApprovalPolicy } from './policy.ts'
import type { Objection, Verdict } from './verdict.ts'

/** A denial, or a wait for what may become right, may be led elsewhere; what is not ours to decide stays so. */
export function actedUpon(objection: Objection, policy: ApprovalPolicy | undefined): Objection {
  if (objection.outcome !== 'Deny' && objection.outcome !== 'Wait') return objection
  const actions: Readonly<Record<string, PolicyAction | undefined>> = policy?.actions ?? {}
  const outcome = Object.hasOwn(actions, objection.code) ? actions[objection.code] : undefined
  if (!outcome || outcome === objection.outcome) return objection
  const { until: _until, ...rest } = objection
  return { ...rest, outcome }
}

/** manual: a person has the last word on what would be approved. dryRun: it is told what would have been decided. */
export function inMode(verdict: Verdict, mode: PolicyMode | undefined): Verdict {
  const [first] = verdict.reasons
  const why = `${first?.code}: ${first?.message}`
  if (mode === 'manual' && verdict.outcome === 'Approve')
    return {
      ...verdict,
      outcome: 'Hold',
      reasons: [
        { code: 'ManualApproval', message: `no rule objects, and the policy wants a person's word (${why})` },
        ...verdict.reasons,
      ],
    }
  if (mode !== 'dryRun' || (verdict.outcome !== 'Approve' && verdict.outcome !== 'Deny')) return verdict
  const would = verdict.outcome === 'Approve' ? 'approved' : 'denied'
  const message = `would be ${would}, the policy only tells (mode dryRun; ${why})`
  return { ...verdict, outcome: 'Ignore', reasons: [{ code: 'DryRun', message }, ...verdict.reasons] }
}
