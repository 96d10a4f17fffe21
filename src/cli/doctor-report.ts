/** A report for people. */
import type { CheckResult, MissingArtifact, Report } from '../doctor/diagnose.ts'
import type { Severity } from '../doctor/finding.ts'
import type { ReportedFinding } from '../doctor/group-findings.ts'
import { printable } from './printable.ts'
import { alignColumns } from './table.ts'

export interface ReportStyle {
  /** Every object and every reason. */
  wide: boolean
  colours: boolean
}

/** Objects named without `-o wide`. */
const shownObjects = 5
/** Checks that could not be made; beyond that hardly anything could be read, and why is what counts. */
const shownSkips = 40

export function formatReport(report: Report, style: ReportStyle): string {
  const { subject, at, findings } = report
  const head = `${printable(subject)}   ${at}\n`
  return [head, ...findings.map(finding => formatFinding(finding, style)), formatSummary(report, style)].join(
    '\n',
  )
}

const labels = { critical: 'CRIT', warning: 'WARN', info: 'INFO' } as const
const colours = { critical: '\u001b[31m', warning: '\u001b[33m', info: '\u001b[36m' } as const

function label(severity: Severity, style: ReportStyle): string {
  return style.colours ? `${colours[severity]}${labels[severity]}\u001b[0m` : labels[severity]
}

function formatFinding(finding: ReportedFinding, style: ReportStyle): string {
  const { id, severity, title, symptom, objects, evidence, cause, fix, verify } = finding
  const shown = style.wide ? objects : objects.slice(0, shownObjects)
  const rest = objects.length > shown.length ? `, and ${objects.length - shown.length} more` : ''
  const times = objects.length > 1 ? `   x${objects.length}` : ''
  const lines = [
    ['at', shown.join(', ') + rest],
    ['symptom', symptom],
    ['cause', cause],
    ...evidence.map(({ value, source, at }, n) => [
      n === 0 ? 'evidence' : '',
      `${value}   [${source}${at ? `, ${at}` : ''}]`,
    ]),
    ...fix.flatMap(({ run, purpose }, n) => [
      [n === 0 ? 'fix' : '', run],
      ['', `    ${purpose}`],
    ]),
    ['verify', `${verify.run}   (${verify.purpose})`],
    ['more', `rollcall doctor explain ${id}`],
  ]
  const body = alignColumns(
    lines.map(line => line.map(printable)),
    '     ',
  )
  return `${label(severity, style)} ${id}  ${title}${times}\n${body}`
}

function formatSummary({ findings, explained, checks, missing }: Report, style: ReportStyle): string {
  const count = (severity: Severity) => findings.filter(finding => finding.severity === severity).length
  const of = (status: CheckResult['status']) => checks.filter(check => check.status === status)
  const lacking = new Set(of('SKIP').flatMap(({ missing }) => missing))
  const symptoms = explained.map(({ id, by, count }) => `${id} x${count} by ${by}`).join(', ')
  const lines = [
    [
      'found',
      findings.every(({ severity }) => severity === 'info')
        ? 'nothing'
        : `${count('critical')} critical, ${count('warning')} warnings`,
    ],
    ...(symptoms ? [['explained', symptoms]] : []),
    ['checks', `${of('OK').length} OK, ${of('SKIP').length} SKIP, ${of('NOT_ASKED').length} not asked`],
    ...(style.wide || of('SKIP').length <= shownSkips
      ? checkLines('SKIP', of('SKIP'))
      : [['SKIP', `${of('SKIP').length} checks, which -o wide names: they lack what stands below`]]),
    ...(style.wide ? checkLines('not asked', of('NOT_ASKED')) : []),
    ...missingLines(
      missing.filter(
        ({ artifact, status }) =>
          style.wide || (status !== 'absent' && status !== 'notAsked') || lacking.has(artifact),
      ),
    ),
  ]
  return alignColumns(lines.map(line => line.map(printable)))
}

/** One line for the checks that lack the same artifacts. */
function checkLines(title: string, checks: readonly CheckResult[]): string[][] {
  const byLack = Map.groupBy(checks, ({ missing }) => missing.join(', '))
  return [...byLack].map(([lack, of], n) => [
    n === 0 ? title : '',
    `${of.map(({ id }) => id).join(' ')}, for lack of ${lack}`,
  ])
}

/** One line for the artifacts that are not there for one reason. */
function missingLines(missing: readonly MissingArtifact[]): string[][] {
  const byReason = Map.groupBy(
    missing,
    ({ status, reason }) => `${status === 'notAsked' ? 'not asked' : status}: ${reason}`,
  )
  return [...byReason].map(([reason, of], n) => [
    n === 0 ? 'lacking' : '',
    `${of.map(({ artifact }) => artifact).join(', ')} ${reason}`,
  ])
}
