import type { Command } from '../survey/explanation.ts'
import type { Diagnosis } from './diagnose.ts'
import { type Evidence, isLouder, type Severity, severities } from './finding.ts'

/** All findings of one check with one cause. */
export interface ReportedFinding {
  id: string
  severity: Severity
  /** The check's failureTitle. */
  title: string
  symptom: string
  /** Every object it was found at. */
  objects: string[]
  /** Of the first few objects. */
  evidence: Evidence[]
  cause: string
  /** For the first object, where they differ from object to object. */
  fix: Command[]
  verify: Command
  /** Page in docs/reference. */
  page: string
}

/** Objects whose evidence is shown. */
const shownEvidence = 3

/** Critical ones first, then those at most objects, then by id. */
export function groupFindings(diagnoses: readonly Diagnosis[]): ReportedFinding[] {
  const groups = new Map<string, { finding: ReportedFinding; objects: Set<string> }>()
  for (const diagnosis of diagnoses) {
    const { meta } = diagnosis.check
    const { severity = meta.severity, cause, object, evidence, fix, verify } = diagnosis
    const key = JSON.stringify([meta.id, cause])
    const group = groups.get(key)
    if (!group) {
      const finding: ReportedFinding = {
        id: meta.id,
        severity,
        title: meta.failureTitle,
        symptom: meta.symptom,
        objects: [object],
        evidence: [...evidence],
        cause,
        fix,
        verify,
        page: `docs/reference/doctor/${meta.id}.md`,
      }
      groups.set(key, { finding, objects: new Set([object]) })
      continue
    }
    if (isLouder(severity, group.finding.severity)) group.finding.severity = severity
    if (group.objects.has(object)) continue
    group.objects.add(object)
    if (group.objects.size <= shownEvidence) {
      const known = new Set(group.finding.evidence.map(({ value, source }) => `${source} ${value}`))
      group.finding.evidence.push(...evidence.filter(({ value, source }) => !known.has(`${source} ${value}`)))
    }
  }
  const grouped = [...groups.values()].map(({ finding, objects }) => ({ ...finding, objects: [...objects] }))
  return grouped.sort(
    (a, b) => rank(a) - rank(b) || b.objects.length - a.objects.length || (a.id < b.id ? -1 : 1),
  )
}

const rank = ({ severity }: ReportedFinding) => severities.indexOf(severity)
