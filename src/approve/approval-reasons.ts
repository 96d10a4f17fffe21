import type { KubeNode } from '../kube/types.ts'
import type { ReadFacts } from './facts.ts'
import { listed } from './listed.ts'
import { evidenceFor, missingInternalIps } from './node-status-evidence.ts'
import { type RequestedSan, requestedSans } from './requested-sans.ts'
import { kindOf } from './rules/our-signer.ts'
import type { Reason } from './verdict.ts'

/** Why a request that no rule objects to is approved; after the first reason come warnings. */
export function approvalReasons(facts: ReadFacts): Reason[] {
  if (kindOf(facts.csr) === 'client') {
    // C-13: Kubernetes' own reason and messages, so that what looks for them goes on to work.
    const self = facts.access?.allowed === 'selfnodeclient' ? 'self ' : ''
    const message = `Auto approving ${self}kubelet client certificate after SubjectAccessReview.`
    return [{ code: 'AutoApproved', message }]
  }
  const { node, request } = facts
  if (!node) throw new TypeError('a serving request was approved without its Node')
  const sans = requestedSans(request)
  const proven = sans.map(san => `${san.shown} (${evidenceFor(san, node)})`)
  const message = `Every SAN is proven: ${listed(proven)}.`
  return [{ code: 'SansProven', message }, ...warnings(sans, node)]
}

function warnings(sans: readonly RequestedSan[], node: KubeNode): Reason[] {
  const reasons: Reason[] = []
  const missing = missingInternalIps(sans, node)
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
