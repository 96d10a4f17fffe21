/**
 * What the doctor looks at: gathered once, plain JSON, free of secrets, so that a bundle is these artifacts in a file and
 * every check says the same of a bundle as of the cluster.
 */
import { type ClusterArtifacts, clusterArtifactNames } from './cluster-artifacts.ts'
import { type EndpointArtifacts, endpointArtifactNames } from './endpoint-artifacts.ts'
import { type NodeArtifacts, nodeArtifactNames } from './node-artifacts.ts'

/**
 * One artifact, or why there is none. `forbidden`, `failed`: it could not be had, so a check that needs it is SKIP.
 * `absent`: this cluster has no such thing; `notAsked`: not part of this run.
 */
export type Gathered<T> =
  | {
      status: 'ok'
      value: T
      /** What of it is not there: what is found counts, and that nothing is found is not OK. */
      partial?: string
    }
  | { status: 'forbidden' | 'failed' | 'absent' | 'notAsked'; reason: string }

export type ArtifactStatus = Gathered<unknown>['status']

/** A line of a log that tells something about certificates. */
export interface LogLine {
  file: string
  /** RFC 3339; absent where the line does not say it in full. */
  at?: string
  text: string
}

/** Something that may not be read, and what was answered. */
export interface Refusal {
  artifact: string
  reason: string
}

export interface Artifacts extends ClusterArtifacts, EndpointArtifacts, NodeArtifacts {
  /** Of the logs that the doctor was given. */
  logLines: LogLine[]
  /** What of the above may not be read. */
  refusals: Refusal[]
}

export type ArtifactName = keyof Artifacts

export type GatheredArtifacts = { [Name in ArtifactName]: Gathered<Artifacts[Name]> }

export const artifactNames = [
  ...clusterArtifactNames,
  ...endpointArtifactNames,
  ...nodeArtifactNames,
  'logLines',
  'refusals',
] as const satisfies readonly ArtifactName[]

/** All artifacts as not asked for; a gatherer fills in its own. */
export function nothingGathered(reason: string): GatheredArtifacts {
  const none = { status: 'notAsked', reason } as const
  // Object.fromEntries forgets the names; robustness.test.ts holds that there is each.
  return Object.fromEntries(artifactNames.map(name => [name, none])) as GatheredArtifacts
}
