import type { RotationFacts } from './artifacts/cluster-artifacts.ts'

/** Phases in which a rotation is over. */
const over: ReadonlySet<string> = new Set(['Done', 'Aborted', 'RolledBack'])

/** Whether somebody has to carry it on: one that is paused waits for people. */
export function isUnderWay({ phase, paused }: RotationFacts): boolean {
  return !over.has(phase) && paused === undefined
}
