/**
 * Judgement: facts in, verdict out. Pure, so the same function runs in the controller, in `policy test`, in the
 * simulator and behind the dashboard's "why". The rules stand in the order in which they are asked; the first
 * objection decides (approvers 7: cheap and identity-establishing ones first).
 */
import type { PolicyMode } from '../kube/rollcall/certificate-policy/spec.ts'
import { approvalReasons } from './approval-reasons.ts'
import { dampedDenial } from './damped-denial.ts'
import type { Facts, ReadFacts } from './facts.ts'
import { stillHeld } from './held-condition.ts'
import { expiringHold } from './hold-expiry.ts'
import { actedUpon, inMode } from './policy-mode.ts'
import { termsOf } from './policy-terms.ts'
import type { Rule } from './rule.ts'
import { accessReviewed } from './rules/access-reviewed.ts'
import { attestedMachine } from './rules/attested-machine.ts'
import { clientWithoutSan } from './rules/client-without-san.ts'
import { evidenceAvailable } from './rules/evidence-available.ts'
import { exactUsages } from './rules/exact-usages.ts'
import { keyAllowed } from './rules/key-allowed.ts'
import { keyNotShared } from './rules/key-not-shared.ts'
import { lifetimeInRange } from './rules/lifetime-in-range.ts'
import { machineKnown } from './rules/machine-known.ts'
import { machineReady } from './rules/machine-ready.ts'
import { newestRequest } from './rules/newest-request.ts'
import { noOtherNodesAddress } from './rules/no-other-nodes-address.ts'
import { noReservedName } from './rules/no-reserved-name.ts'
import { nodeMayBootstrap } from './rules/node-may-bootstrap.ts'
import { nodePresent } from './rules/node-present.ts'
import { nodeSubject } from './rules/node-subject.ts'
import { kindOf, ourSigner } from './rules/our-signer.ts'
import { policyPresent } from './rules/policy-present.ts'
import { poolsKnown } from './rules/pools-known.ts'
import { requesterIsNode } from './rules/requester-is-node.ts'
import { sanOnlyExtension } from './rules/san-only-extension.ts'
import { sansAllowed } from './rules/sans-allowed.ts'
import { sansProven } from './rules/sans-proven.ts'
import { servingSanTypes } from './rules/serving-san-types.ts'
import { strongKey } from './rules/strong-key.ts'
import { unambiguous } from './rules/unambiguous.ts'
import { undecided } from './rules/undecided.ts'
import { usagesAllowed } from './rules/usages-allowed.ts'
import { wellFormed } from './rules/well-formed.ts'
import { withinBudget } from './rules/within-budget.ts'
import type { Objection, RuleOutcome, Verdict } from './verdict.ts'

/** Asked of every object; after the last one the request could be read. */
const intakeRules: readonly Rule<Facts>[] = [ourSigner, undecided, policyPresent, requesterIsNode, wellFormed]

const requestRules: readonly Rule<ReadFacts>[] = [
  strongKey,
  nodeSubject,
  newestRequest,
  poolsKnown,
  keyAllowed,
  keyNotShared,
  exactUsages,
  usagesAllowed,
  sanOnlyExtension,
  clientWithoutSan,
  servingSanTypes,
  sansAllowed,
  noReservedName,
  unambiguous,
  evidenceAvailable,
  noOtherNodesAddress,
  nodePresent,
  machineKnown,
  machineReady,
  sansProven,
  lifetimeInRange,
  nodeMayBootstrap,
  withinBudget,
  attestedMachine,
  accessReviewed,
]

/** Names and sentences of all rules in order, for `policy explain` and the reference. */
export const rules: readonly { name: string; sentence: string }[] = [...intakeRules, ...requestRules]

/** By the rule's place: one object for all judgements, most of which say of most rules the same. */
const told = new Map<RuleOutcome['outcome'], RuleOutcome[]>()

function outcomeOf(place: number, outcome: RuleOutcome['outcome']): RuleOutcome {
  const all = told.get(outcome) ?? rules.map(({ name, sentence }) => ({ rule: name, sentence, outcome }))
  told.set(outcome, all)
  return all[place] as RuleOutcome
}

export function judge(facts: Facts): Verdict {
  const outcomes: RuleOutcome[] = []
  const refused = firstObjection(intakeRules, facts, outcomes)
  if (refused) return expiringHold(inMode(verdictOn(refused, facts, outcomes), modeAtIntake(facts)), facts)
  // One object for all rules of this judgement: what they find out together is kept by it.
  const read = withRequest(facts)
  const objection = firstObjection(requestRules, read, outcomes)
  const verdict: Verdict = objection
    ? verdictOn(objection, facts, outcomes)
    : { outcome: 'Approve', reasons: approvalReasons(read), rules: outcomes }
  return expiringHold(stillHeld(inMode(verdict, termsOf(read).mode), facts.csr), facts)
}

function verdictOn(objection: Objection, facts: Facts, outcomes: readonly RuleOutcome[]): Verdict {
  const notReached = rules
    .slice(outcomes.length)
    .map((_, index) => outcomeOf(outcomes.length + index, 'NotReached'))
  const { code, message, ...decision } = dampedDenial(actedUpon(objection, facts.policy), facts)
  return { ...decision, reasons: [{ code, message }], rules: [...outcomes, ...notReached] }
}

function firstObjection<F extends Facts>(
  list: readonly Rule<F>[],
  facts: F,
  outcomes: RuleOutcome[],
): Objection | undefined {
  const kind = kindOf(facts.csr)
  for (const rule of list) {
    const applies = rule.only === undefined || rule.only === kind
    const objection = applies ? rule.check(facts) : undefined
    outcomes.push(outcomeOf(outcomes.length, objection?.outcome ?? (applies ? 'Pass' : 'NotApplicable')))
    if (objection) return objection
  }
  return undefined
}

/** What cannot be read is in no pool that could be named. */
function modeAtIntake(facts: Facts): PolicyMode | undefined {
  return facts.reading.request ? termsOf(withRequest(facts)).mode : facts.policy?.mode
}

/** The intake rules let nothing pass that could not be read. */
function withRequest(facts: Facts): ReadFacts {
  const { request } = facts.reading
  if (!request) throw new TypeError('judgement passed a request that could not be read')
  return { ...facts, request }
}

/** Whether sources have to be asked before more can be said: a flood of bad requests asks nobody. */
export function wantsEvidence(verdict: Verdict, { policy }: Facts): boolean {
  return Boolean(policy?.evidenceFrom) && verdict.reasons[0]?.code === 'EvidenceUnavailable'
}

/** Whether the machine's identity is all that is left to read. */
export function wantsAttestation(verdict: Verdict): boolean {
  return verdict.reasons[0]?.code === 'IdentityNotRead'
}

/** Whether access is all that is left to ask: a flood of bad requests costs no SubjectAccessReview. */
export function wantsAccessReview(verdict: Verdict): boolean {
  return verdict.reasons[0]?.code === 'AccessNotReviewed'
}
