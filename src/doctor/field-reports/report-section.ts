import type { Check } from '../check.ts'

export interface FieldReport {
  /** What tests of a node's part call them: `report 17: …`. Absent: no node of ours is about it. */
  numbers?: readonly number[]
  /** `owner/repository#number`; several of the same fault. */
  reports: readonly string[]
  /** What was seen. */
  seen: string
  /** Ids of the diagnoses that find it, beside those of the checks that name one of the reports themselves. */
  ids: readonly [string, ...string[]]
}

/** A report that is no issue with a number. */
export interface UntrackedReport {
  title: string
  seen: string
  ids: readonly [string, ...string[]]
}

/** Reports that no diagnosis finds, since the part of Rollcall that they are about has no such fault: held by a test. */
export interface HeldElsewhere {
  numbers?: readonly number[]
  reports: readonly string[]
  seen: string
  /** The test's file. */
  by: string
}

/** Reports about one part of a certificate's life. */
export interface ReportSection {
  title: string
  reports: readonly FieldReport[]
  untracked?: readonly UntrackedReport[]
  heldElsewhere?: readonly HeldElsewhere[]
}

export const k8s = (...numbers: [number, ...number[]]) =>
  numbers.map(number => `kubernetes/kubernetes#${number}`)

/** The row's own ids, and those of the checks that name one of its reports, in their order. */
export function idsOf({ ids, reports }: FieldReport, checks: readonly Check[]): string[] {
  const naming = checks.filter(({ meta }) => meta.reports?.some(report => reports.includes(report)))
  return [...new Set([...ids, ...naming.map(({ meta }) => meta.id)])].sort()
}
