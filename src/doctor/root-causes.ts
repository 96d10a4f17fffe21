import type { Diagnosis } from './diagnose.ts'
import type { Severity } from './finding.ts'

export interface Explained {
  /** The id that is only a symptom here. */
  id: string
  /** The id of the cause, which is among the findings. */
  by: string
  count: number
}

/**
 * One cause, not forty symptoms: drops each finding that another one accounts for, of a check that explains its id, at the
 * same node or object, or everywhere. What explains may itself be explained; the last in the row is the cause, and it is
 * at least as loud as what it accounts for.
 */
export function withoutSymptoms(diagnoses: readonly Diagnosis[]): {
  causes: Diagnosis[]
  explained: Explained[]
} {
  const explainers = indexExplainers(diagnoses)
  const explainerOf = (diagnosis: Diagnosis) =>
    placesOf(diagnosis)
      .map(place => explainers.get(`${diagnosis.check.meta.id} ${place}`))
      .find(found => found !== undefined)
  const causes: Diagnosis[] = []
  const explained = new Map<string, Explained>()
  const loud = new Set<Diagnosis>()
  for (const diagnosis of diagnoses) {
    let cause = explainerOf(diagnosis)
    if (!cause) {
      causes.push(diagnosis)
      continue
    }
    // Ends, because no check explains itself through others (all-checks.test.ts).
    for (let next = explainerOf(cause); next; next = explainerOf(next)) cause = next
    const { id } = diagnosis.check.meta
    const by = cause.check.meta.id
    if (severityOf(diagnosis) === 'critical') loud.add(cause)
    const entry = explained.get(`${id} ${by}`) ?? { id, by, count: 0 }
    entry.count += 1
    explained.set(`${id} ${by}`, entry)
  }
  return {
    causes: causes.map(cause => (loud.has(cause) ? { ...cause, severity: 'critical' } : cause)),
    explained: [...explained.values()],
  }
}

function severityOf({ severity, check }: Diagnosis): Severity {
  return severity ?? check.meta.severity
}

const anywhere = 'anywhere'

/** By the id that is explained and the place where. */
function indexExplainers(diagnoses: readonly Diagnosis[]): Map<string, Diagnosis> {
  const index = new Map<string, Diagnosis>()
  for (const diagnosis of diagnoses) {
    const { explains = [] } = diagnosis.check.meta
    const places = diagnosis.everywhere ? [anywhere] : ownPlaces(diagnosis)
    for (const symptom of explains) {
      for (const place of places) {
        const key = `${symptom} ${place}`
        if (!index.has(key)) index.set(key, diagnosis)
      }
    }
  }
  return index
}

function ownPlaces({ node, object }: Diagnosis): string[] {
  return [...(node === undefined ? [] : [`node ${node}`]), `object ${object}`]
}

function placesOf(diagnosis: Diagnosis): string[] {
  return [...ownPlaces(diagnosis), anywhere]
}
