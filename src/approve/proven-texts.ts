import type { SanAssessment } from './evidence/assessment.ts'

/** `IP 10.0.0.11 (Node worker-1 status.addresses InternalIP)`, with the strongest source of each. */
export function provenTexts(sans: readonly SanAssessment[]): string[] {
  return sans.map(({ san, proofs }) => `${san.shown} (${proofs[0]?.source ?? 'no evidence'})`)
}
