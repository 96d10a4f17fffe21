/** What a policy makes of a verdict. It can only be more careful: nothing is approved that the rules do not approve. */
import type { PolicyAction, PolicyMode } from '../kube/rollcall/certificate-policy/spec.ts'
import type { ApprovalPolicy } from './policy.ts'
import type { Objection, Outcome, Verdict } from './verdict.ts'

/** A denial, or a wait for what may become right, may be led elsewhere; what is not ours to decide stays so. */
export function actedUpon(objection: Objection, policy: ApprovalPolicy | undefined): Objection {
  if (objection.outcome !== 'Deny' && objection.outcome !== 'Wait') return objection
  const actions: Readonly<Record<string, PolicyAction | undefined>> = policy?.actions ?? {}
  const outcome = Object.hasOwn(actions, objection.code) ? actions[objection.code] : undefined
  if (!outcome || outcome === objection.outcome) return objection
  const { until: _until, ...rest } = objection
  return { ...rest, outcome }
}

/** What a verdict does to a request. Those not here leave it as it is. */
const carriedOut: Partial<Record<Outcome, string>> = { Approve: 'approved', Deny: 'denied', Hold: 'held' }

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
  const would = mode === 'dryRun' ? carriedOut[verdict.outcome] : undefined
  if (!would) return verdict
  const message = `would be ${would}, the policy only tells (mode dryRun; ${why})`
  return { ...verdict, outcome: 'Ignore', reasons: [{ code: 'DryRun', message }, ...verdict.reasons] }
}
