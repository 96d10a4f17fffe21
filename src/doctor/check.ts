import type { ArtifactName } from './artifacts/artifacts.ts'
import type { Facts } from './facts.ts'
import type { Finding, Severity } from './finding.ts'

export interface CheckMeta {
  /** Stable: the name of the diagnosis in reports, tests and docs/reference/doctor. */
  id: string
  severity: Severity
  /** What is so when all is well. */
  title: string
  /** What is so when it is not. */
  failureTitle: string
  /** What people notice. */
  symptom: string
  /** Why it happens and what the doctor looks at; a few sentences. */
  description: string
  /** What to do, in general; a finding names the command for its object. */
  remedy: string
  /** Ids that are symptoms of this one: at the same node or object, or everywhere where the finding says so. */
  explains?: readonly string[]
  /** Public reports of this fault, e.g. `kubernetes/kubernetes#96256`. */
  reports?: readonly string[]
}

/** One way to see the fault. A view whose required artifacts are not all there is not asked. */
export interface View {
  requiredArtifacts: readonly ArtifactName[]
  /** Used where they are there. */
  optionalArtifacts: readonly ArtifactName[]
  /** `now` in milliseconds since the epoch. */
  audit(facts: Partial<Facts>, now: number): Finding[]
  /**
   * The artifacts that would have to tell more, where something is told by none although they are there: then that nothing
   * is found is not OK.
   */
  unseen?(facts: Partial<Facts>, now: number): readonly ArtifactName[]
}

export interface Check {
  meta: CheckMeta
  views: readonly View[]
}

/** A view with its facts by type: the required ones are there, the optional ones may be. */
export function view<Required extends ArtifactName, Optional extends ArtifactName = never>(of: {
  requiredArtifacts: readonly Required[]
  optionalArtifacts?: readonly Optional[]
  audit(facts: Pick<Facts, Required> & Partial<Pick<Facts, Optional>>, now: number): Finding[]
  unseen?(facts: Pick<Facts, Required> & Partial<Pick<Facts, Optional>>, now: number): readonly ArtifactName[]
}): View {
  const { requiredArtifacts, optionalArtifacts = [], audit, unseen } = of
  return {
    requiredArtifacts,
    optionalArtifacts,
    // The caller looks at requiredArtifacts first, which the type of a table of checks cannot express.
    audit: (facts, now) => audit(facts as Pick<Facts, Required> & Partial<Pick<Facts, Optional>>, now),
    ...(unseen && {
      unseen: (facts, now) => unseen(facts as Pick<Facts, Required> & Partial<Pick<Facts, Optional>>, now),
    }),
  }
}
