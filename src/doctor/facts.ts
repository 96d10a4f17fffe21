/** Artifacts, read: what the checks are pure functions of. */
import type { Artifacts, GatheredArtifacts } from './artifacts/artifacts.ts'
import { type RequestFacts, readRequests } from './request-facts.ts'

export type Facts = Omit<Artifacts, 'requests'> & { requests: readonly RequestFacts[] }

/** The facts of those artifacts that are there. `now` in milliseconds since the epoch. */
export function factsOf(gathered: GatheredArtifacts, now: number): Partial<Facts> {
  const there = Object.entries(gathered).flatMap(([name, artifact]) =>
    artifact.status === 'ok' ? [[name, artifact.value]] : [],
  )
  const artifacts: Partial<Artifacts> = Object.fromEntries(there)
  const { requests, ...others } = artifacts
  return requests ? { ...others, requests: readRequests(requests, artifacts.nodes, now) } : others
}
