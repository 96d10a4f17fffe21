/** Runs the checks over the facts. Pure: the same artifacts give the same report, live or from a bundle. */
import { formatTime } from '../kube/time-format.ts'
import {
  type ArtifactName,
  type ArtifactStatus,
  artifactNames,
  type GatheredArtifacts,
} from './artifacts/artifacts.ts'
import type { Check } from './check.ts'
import { type Facts, factsOf } from './facts.ts'
import type { Finding } from './finding.ts'
import { groupFindings, type ReportedFinding } from './group-findings.ts'
import { type Explained, withoutSymptoms } from './root-causes.ts'

/** OK: looked everywhere, found nothing. SKIP: could not look. NOT_ASKED: not part of this run, or the cluster has no such thing. */
export type CheckStatus = 'FOUND' | 'OK' | 'SKIP' | 'NOT_ASKED'

export interface CheckResult {
  id: string
  title: string
  status: CheckStatus
  /** The artifacts that it lacks, where it is SKIP or NOT_ASKED; `Report.missing` says why. */
  missing: ArtifactName[]
}

export interface MissingArtifact {
  artifact: ArtifactName
  status: Exclude<ArtifactStatus, 'ok'> | 'partial'
  reason: string
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
  missing: MissingArtifact[]
}

/** A finding with the check that made it. */
export interface Diagnosis extends Finding {
  check: Check
}

/**
 * `gatheredAt` in milliseconds since the epoch: ages and expiry are judged as of then. With `node` only what is found for
 * it, and what explains things everywhere.
 */
export function diagnose(
  subject: string,
  gathered: GatheredArtifacts,
  gatheredAt: number,
  checks: readonly Check[],
  node?: string,
): Report {
  const { diagnoses, results } = runChecks(gathered, gatheredAt, checks)
  const concerned = diagnoses.filter(found => node === undefined || found.node === node || found.everywhere)
  const { causes, explained } = withoutSymptoms(concerned)
  const at = formatTime(gatheredAt)
  return {
    subject,
    at,
    findings: groupFindings(causes),
    explained,
    checks: results,
    missing: missingOf(gathered),
  }
}

/** What each check finds, symptoms among it, and whether it could look. */
export function runChecks(
  gathered: GatheredArtifacts,
  gatheredAt: number,
  checks: readonly Check[],
): { diagnoses: Diagnosis[]; results: CheckResult[] } {
  const facts = factsOf(gathered, gatheredAt)
  const diagnoses: Diagnosis[] = []
  const results: CheckResult[] = []
  for (const check of checks) {
    const { found, missing, status } = runViews(check, gathered, facts, gatheredAt)
    diagnoses.push(...found.map(finding => ({ ...finding, check })))
    results.push({ id: check.meta.id, title: check.meta.title, status, missing })
  }
  return { diagnoses, results }
}

function missingOf(gathered: GatheredArtifacts): MissingArtifact[] {
  return artifactNames.flatMap(artifact => {
    const entry = gathered[artifact]
    if (entry.status !== 'ok') return { artifact, status: entry.status, reason: entry.reason }
    return entry.partial === undefined ? [] : { artifact, status: 'partial' as const, reason: entry.partial }
  })
}

interface ViewsResult {
  found: Finding[]
  missing: ArtifactName[]
  status: CheckStatus
}

function runViews(
  { views }: Check,
  gathered: GatheredArtifacts,
  facts: Partial<Facts>,
  now: number,
): ViewsResult {
  const found: Finding[] = []
  const unavailable = new Set<ArtifactName>()
  const unasked = new Set<ArtifactName>()
  let asked = false
  for (const view of views) {
    const missing = view.requiredArtifacts.filter(name => gathered[name].status !== 'ok')
    if (missing.length === 0) {
      asked = true
      found.push(...view.audit(facts, now))
      for (const name of view.requiredArtifacts) if (isPartial(gathered[name])) unavailable.add(name)
      for (const name of view.unseen?.(facts, now) ?? []) unavailable.add(name)
      continue
    }
    // Where one of them was never asked for, the view is no part of this run whatever became of the others.
    const couldNot = missing.every(name => ['forbidden', 'failed'].includes(gathered[name].status))
    for (const name of missing) (couldNot ? unavailable : unasked).add(name)
  }
  if (found.length > 0) return { found, missing: [], status: 'FOUND' }
  if (unavailable.size > 0) return { found, missing: [...unavailable], status: 'SKIP' }
  return asked ? { found, missing: [], status: 'OK' } : { found, missing: [...unasked], status: 'NOT_ASKED' }
}

function isPartial(entry: GatheredArtifacts[ArtifactName]): boolean {
  return entry.status === 'ok' && entry.partial !== undefined
}

/** Exit code: 3 found something that is wrong, 4 nothing found but something could not be checked, 0 ok. */
export function exitCodeOf({ findings, checks }: Report): 0 | 3 | 4 {
  if (findings.some(({ severity }) => severity !== 'info')) return 3
  return checks.some(({ status }) => status === 'SKIP') ? 4 : 0
}
