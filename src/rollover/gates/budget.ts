import type { HealthFacts, Observations } from '../observations.ts'
import { type Gate, gate } from './gate.ts'

/** Share of requests that may fail more than before. */
const spentAt = 0.001
/** Milliseconds: a request for a certificate that waits longer says that the signers do not keep up. */
const longestPending = 5 * 60_000

/** BUDGET: no more requests fail than before. */
export function budgetGate({ health }: Observations): Gate {
  const message = `${(health.errorRate * 100).toFixed(2)} % of the requests fail`
  const blocker = { code: 'ErrorBudget', about: 'requests', message } as const
  return gate('BUDGET', 1, isBudgetSpent(health) ? [blocker] : [])
}

function isBudgetSpent({ errorRate, baselineErrorRate }: HealthFacts): boolean {
  return errorRate > baselineErrorRate + spentAt
}

/** Whether a further wave would press on what does not keep up already. */
export function mustHoldWaves(health: HealthFacts): boolean {
  return isBudgetSpent(health) || health.oldestPendingRequest > longestPending
}
