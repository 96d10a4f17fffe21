/** Rows of the case table for kubelet approvers: an id with words, what differs from the fixture, what is expected. */
import assert from 'node:assert/strict'
import type { Facts } from '../approve/facts.ts'
import { judge } from '../approve/judge.ts'
import type { Outcome, ReasonCode } from '../approve/verdict.ts'
import { clientFacts, type FactChanges, servingFacts } from './judged-request.ts'

export type Case = [title: string, changes: FactChanges, outcome: Outcome, code: ReasonCode]

export const bothGroups = ['system:nodes', 'system:authenticated']

/** A title and the body of its test. Registered in the test file itself, so that the runner sees the file run. */
export type CaseTest = [title: string, run: () => void]

/** Changes to the serving request of a healthy kubelet. */
export const servingCases = (rows: readonly Case[]) => decide(rows, servingFacts)

/** Changes to the client request of a bootstrapping kubelet. */
export const clientCases = (rows: readonly Case[]) => decide(rows, clientFacts)

function decide(rows: readonly Case[], factsOf: (changes: FactChanges) => Facts): CaseTest[] {
  return rows.map(([title, changes, outcome, code]) => [
    `${title}: ${outcome} ${code}`,
    () => expectVerdict(factsOf(changes), outcome, code),
  ])
}

export function expectVerdict(facts: Facts, outcome: Outcome, code: ReasonCode): void {
  const verdict = judge(facts)
  const [reason] = verdict.reasons
  assert.deepEqual([verdict.outcome, reason?.code], [outcome, code], reason?.message)
}
