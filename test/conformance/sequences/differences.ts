import { isDeepStrictEqual } from 'node:util'
import type { Reviewed } from './reviewed.ts'
import type { Sequence, SequenceStep } from './sequence.ts'

export interface Difference {
  step: SequenceStep
  /** Number of the step. */
  at: number
  /** E.g. `body.metadata.labels`. */
  path: string
  left: unknown
  right: unknown
}

/** Everything in which two servers' comparable answers to one sequence differ. */
export function differencesOf(
  { steps }: Sequence,
  left: readonly unknown[],
  right: readonly unknown[],
): Difference[] {
  return steps.flatMap((step, at) =>
    between(left[at], right[at], '').map(difference => ({ step, at, ...difference })),
  )
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function between(left: unknown, right: unknown, path: string): Pick<Difference, 'path' | 'left' | 'right'>[] {
  if (isDeepStrictEqual(left, right)) return []
  if (Array.isArray(left) && Array.isArray(right) && left.length === right.length)
    return left.flatMap((one, index) => between(one, right[index], `${path}[${index}]`))
  if (isObject(left) && isObject(right)) {
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])]
    return keys.flatMap(key => between(left[key], right[key], path === '' ? key : `${path}.${key}`))
  }
  return [{ path, left, right }]
}

export const isReviewed = ({ step, path, left, right }: Difference, reviewed: readonly Reviewed[]) =>
  reviewed.some(
    rule =>
      (!rule.request || rule.request.test(`${step.method} ${step.url}`)) &&
      rule.path.test(path) &&
      (!rule.ours || rule.ours.test(JSON.stringify(left) ?? '')) &&
      (!rule.theirs || rule.theirs.test(JSON.stringify(right) ?? '')),
  )

/** One line for a finding. */
export function describe({ step, at, path, left, right }: Difference): string {
  const as = step.as ? ` as ${JSON.stringify(step.as)}` : ''
  const brief = (value: unknown) => (JSON.stringify(value) ?? 'nothing').slice(0, 600)
  return `step ${at}: ${step.method} ${step.url}${as} ${step.body ?? ''}\n    ${path}: ${brief(left)}\n    against: ${brief(right)}`
}
