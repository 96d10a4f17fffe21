/** When a rotation must begin so that the old CA does not end first. All in milliseconds. */
import type { AuthorityFacts } from './observations.ts'
import type { Timings } from './policy.ts'

/** Durations of earlier rotations, by step. */
export type PastRuns = Readonly<Partial<Record<BudgetedStep, readonly number[]>>>

const steps = {
  distribute: ['distribute'],
  prove: ['prove'],
  bridge: ['bridgeReplica', 'bridgeSoak', 'issuerSwitch'],
  reissue: ['wave', 'wave', 'wave', 'wave', 'wave'],
  distrust: ['unbridge', 'distrustServers', 'distrustConsumers'],
} as const
export type BudgetedStep = keyof typeof steps

/** What a rotation may take: for each step the greater of its time-outs and thrice the 95th percentile of past runs. */
export function budget(timings: Timings, past: PastRuns = {}): number {
  const names = Object.keys(steps) as BudgetedStep[]
  return names.reduce(
    (sum, name) => sum + Math.max(allowed(name, timings), 3 * percentile95(past[name] ?? [])),
    0,
  )
}

export interface Schedule {
  /** Later it would be late. */
  latestStart: number
  warnAt: number
  pageAt: number
  /** From then on the switch is forced: DeadlineMode. */
  deadline: number
}

/** 3.7: latest start = end of the old CA - budget - margin, the margin being 10 % of its life where that is more. */
export function schedule(
  old: Pick<AuthorityFacts, 'notBefore' | 'notAfter'>,
  timings: Timings,
  past: PastRuns = {},
): Schedule {
  const whole = budget(timings, past)
  const margin = Math.max(timings.margin, (old.notAfter - old.notBefore) / 10)
  const latestStart = old.notAfter - whole - margin
  return {
    latestStart,
    warnAt: old.notAfter - 2 * whole - margin,
    pageAt: old.notAfter - 1.2 * whole - margin,
    deadline: old.notAfter - allowed('reissue', timings) - allowed('bridge', timings),
  }
}

/**
 * Whether leaves issued now are shortened by the end of their CA, so that renewals of all holders crowd before it; the
 * signer must have switched before.
 */
export function leavesAreShortened(
  old: Pick<AuthorityFacts, 'notAfter'>,
  leafLife: number,
  now: number,
): boolean {
  return old.notAfter - now < leafLife
}

function allowed(step: BudgetedStep, timings: Timings): number {
  return steps[step].reduce((sum, name) => sum + timings[name], 0)
}

function percentile95(durations: readonly number[]): number {
  const sorted = [...durations].sort((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * 0.95) - 1] ?? 0
}
