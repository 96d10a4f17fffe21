/** Runs the checks over the facts. Pure: the same artifacts give the same report, live or from a bundle. */
import { formatTime } from '../kube/time-format.ts'
import type { ArtifactName, GatheredArtifacts } from './artifacts.ts'
import type { Check } from './check.ts'
import { factsOf } from './facts.ts'
import type { Finding } from './finding.ts'
import { groupFindings, type ReportedFinding } from './group-findings.ts'
import { type Explained, withoutSymptoms } from './root-causes.ts'

/** OK: looked everywhere, found nothing. SKIP: could not look. NOT_ASKED: not part of this run, or the cluster has no such thing. */
export type CheckStatus = 'FOUND' | 'OK' | 'SKIP' | 'NOT_ASKED'

export interface CheckResult {
  id: string
  title: string
  status: CheckStatus
  /** Why it is SKIP or NOT_ASKED. */
  reasons: string[]
}

export interface Report {
  /** The API's address, or the folder looked at. */
  subject: string
  /** RFC 3339: when the facts were gathered. */
  at: string
  /** Critical ones first. */
  findings: ReportedFinding[]
  /** What is only a symptom of a finding above. */
  explained: Explained[]
  checks: CheckResult[]
}

/** A finding with the check that made it. */
export interface Diagnosis extends Finding {
  check: Check
}

/** `gatheredAt` in milliseconds since the epoch: ages and expiry are judged as of then. */
export function diagnose(
  subject: string,
  gathered: GatheredArtifacts,
  gatheredAt: number,
  checks: readonly Check[],
): Report {
  const facts = factsOf(gathered, gatheredAt)
  const diagnoses: Diagnosis[] = []
  const results: CheckResult[] = []
  for (const check of checks) {
    const { found, reasons, skipped, asked } = runViews(check, gathered, view =>
      view.audit(facts, gatheredAt),
    )
    diagnoses.push(...found.map(finding => ({ ...finding, check })))
    const status = found.length > 0 ? 'FOUND' : skipped ? 'SKIP' : asked ? 'OK' : 'NOT_ASKED'
    const { id, title } = check.meta
    results.push({ id, title, status, reasons: status === 'SKIP' || status === 'NOT_ASKED' ? reasons : [] })
  }
  const { causes, explained } = withoutSymptoms(diagnoses)
  return { subject, at: formatTime(gatheredAt), findings: groupFindings(causes), explained, checks: results }
}

function runViews(
  { views }: Check,
  gathered: GatheredArtifacts,
  audit: (view: Check['views'][number]) => Finding[],
): { found: Finding[]; reasons: string[]; skipped: boolean; asked: boolean } {
  const found: Finding[] = []
  const reasons = new Set<string>()
  let skipped = false
  let asked = false
  for (const view of views) {
    const missing = view.requiredArtifacts.filter(name => gathered[name].status !== 'ok')
    if (missing.length === 0) {
      asked = true
      found.push(...audit(view))
      continue
    }
    for (const name of missing) reasons.add(reasonOf(gathered, name))
    // Where one of them was never asked for, the view is no part of this run whatever became of the others.
    const couldNot = ['forbidden', 'failed']
    const notAsked = missing.some(name => !couldNot.includes(gathered[name].status))
    if (!notAsked) skipped = true
  }
  return { found, reasons: [...reasons], skipped, asked }
}

function reasonOf(gathered: GatheredArtifacts, name: ArtifactName): string {
  const artifact = gathered[name]
  return artifact.status === 'ok' ? '' : `${name} ${artifact.status}: ${artifact.reason}`
}

/** design.md: 3 found something, 4 nothing found but something could not be checked, 0 ok. */
export function exitCodeOf({ findings, checks }: Report): 0 | 3 | 4 {
  if (findings.length > 0) return 3
  return checks.some(({ status }) => status === 'SKIP') ? 4 : 0
}
