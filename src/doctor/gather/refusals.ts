import type { Gathered, GatheredArtifacts, Refusal } from '../artifacts/artifacts.ts'

/** What may not be read, for the operator who has to grant it. */
export function refusalsOf(gathered: GatheredArtifacts): Gathered<Refusal[]> {
  const value = Object.entries(gathered).flatMap(([artifact, of]) =>
    of.status === 'forbidden' ? [{ artifact, reason: of.reason }] : [],
  )
  return { status: 'ok', value }
}
