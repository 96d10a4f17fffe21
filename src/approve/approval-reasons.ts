import { advantageOf, contestsOf } from './contest.ts'
import { assess, type SanAssessment } from './evidence/assessment.ts'
import type { ReadFacts } from './facts.ts'
import { listed } from './listed.ts'
import { missingInternalIps } from './node-status-evidence.ts'
import { provenTexts } from './proven-texts.ts'
import { kindOf } from './rules/our-signer.ts'
import type { Reason } from './verdict.ts'

/** Why a request that no rule objects to is approved; after the first reason come warnings. */
export function approvalReasons(facts: ReadFacts): Reason[] {
  if (kindOf(facts.csr) === 'client') {
    const { identity } = facts.attestation ?? {}
    if (identity) {
      const { type, hardware } = identity.spec.key
      const level = type === 'TPM' || hardware ? 'hardware' : 'registered key'
      const message = `The machine has proven its ${type === 'TPM' ? 'TPM' : 'key'}, and attested this one (evidence: ${level}).`
      return [{ code: 'MachineAttested', message }]
    }
    // C-13: Kubernetes' own reason and messages, so that what looks for them goes on to work.
    const self = facts.access?.allowed === 'selfnodeclient' ? 'self ' : ''
    const message = `Auto approving ${self}kubelet client certificate after SubjectAccessReview.`
    return [{ code: 'AutoApproved', message }]
  }
  const { sans } = assess(facts)
  const message = `Every SAN is proven: ${listed(provenTexts(sans))}.`
  return [{ code: 'SansProven', message }, ...nameWarnings(facts, sans), ...contestWarnings(facts)]
}

function nameWarnings({ node }: ReadFacts, assessed: readonly SanAssessment[]): Reason[] {
  const sans = assessed.map(({ san }) => san)
  const reasons: Reason[] = []
  const missing = node ? missingInternalIps(sans, node) : []
  if (missing.length > 0) {
    const message = `InternalIP ${listed(missing)} of the node is not requested`
    reasons.push({ code: 'SanIncomplete', message })
  }
  // Approvers 2.11: Go's VerifyHostname never matches such a name.
  const dotted = sans.filter(san => san.kind === 'DNS' && san.shown.endsWith('."'))
  if (dotted.length > 0) {
    const names = listed(dotted.map(san => san.shown))
    const message = `SAN ${names} ends in a dot and will never verify; look at the DHCP domain of the node`
    reasons.push({ code: 'SanTrailingDot', message })
  }
  return reasons
}

/** Others that would have the same name or address: mistakes and attacks look alike, so somebody must look. */
function contestWarnings(facts: ReadFacts): Reason[] {
  return contestsOf(facts).flatMap(({ san, mine, rivals }) =>
    rivals.map((rival): Reason => {
      const by = `node "${rival.nodeName}" (${rival.sources.join(', ')})`
      if (rival.certifiedUntil !== undefined)
        return {
          code: 'HeldElsewhere',
          message: `SAN ${san.shown} is also certified for ${by}; this node has the better right to it`,
        }
      const why = advantageOf(mine, rival) === 'evidence' ? 'stronger evidence' : 'it had it first'
      return {
        code: 'SanContested',
        message: `SAN ${san.shown} is also claimed by ${by}; this node keeps it: ${why}`,
      }
    }),
  )
}
