import type { Diagnosis } from './diagnose.ts'

/** One cause, not forty symptoms: drops each finding that another one, of a check that explains its id, accounts for. */
export function withoutSymptoms(diagnoses: readonly Diagnosis[]): {
  causes: Diagnosis[]
  explained: { id: string; by: string; count: number }[]
} {
  const causes: Diagnosis[] = []
  const counts = new Map<string, { id: string; by: string; count: number }>()
  const explainers = indexExplainers(diagnoses)
  for (const diagnosis of diagnoses) {
    const { id } = diagnosis.check.meta
    const by = placesOf(diagnosis)
      .map(place => explainers.get(`${id} ${place}`))
      .find(found => found !== undefined)
    if (by === undefined) {
      causes.push(diagnosis)
      continue
    }
    const entry = counts.get(`${id} ${by}`) ?? { id, by, count: 0 }
    entry.count += 1
    counts.set(`${id} ${by}`, entry)
  }
  return { causes, explained: [...counts.values()] }
}

const everywhere = 'everywhere'

/** Where a finding of this id would be explained, and by which id. */
function indexExplainers(diagnoses: readonly Diagnosis[]): Map<string, string> {
  const index = new Map<string, string>()
  for (const diagnosis of diagnoses) {
    const { id, explains = [] } = diagnosis.check.meta
    const places = diagnosis.wholeCluster ? [everywhere] : placesOf(diagnosis).filter(at => at !== everywhere)
    for (const symptom of explains) {
      for (const place of places) if (!index.has(`${symptom} ${place}`)) index.set(`${symptom} ${place}`, id)
    }
  }
  return index
}

function placesOf({ node, object }: Diagnosis): string[] {
  return [...(node === undefined ? [] : [`node ${node}`]), `object ${object}`, everywhere]
}
