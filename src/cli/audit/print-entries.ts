import type { AuditEntry, AuditedDecision } from '../../survey/audit/audit-entry.ts'
import type { CommandIo } from '../command-io.ts'
import { type OutputFormat, print } from '../output.ts'
import { printable } from '../printable.ts'
import { type Column, formatTable } from '../table.ts'
import type { FoundEntries } from './read-logs.ts'

export function printEntries(io: CommandIo, format: OutputFormat, { entries, warnings }: FoundEntries): void {
  print(io, format, { text: wide => formatTable(columns, entries, wide), value: entries })
  for (const warning of warnings) io.stderr(`${printable(warning)}\n`)
  if (warnings.length > 0) io.exitWith(3)
}

const columns: Column<AuditEntry>[] = [
  { title: 'seq', cell: ({ seq }) => String(seq) },
  { title: 'time', cell: ({ time }) => time },
  { title: 'outcome', cell: entry => (entry.kind === 'start' ? 'Start' : entry.outcome) },
  { title: 'reason', cell: entry => (entry.kind === 'start' ? '' : reasonText(entry)) },
  { title: 'request', cell: entry => (entry.kind === 'start' ? '' : entry.request.name) },
  { title: 'node', cell: entry => (entry.kind === 'start' ? '' : (entry.node ?? '')) },
  { title: 'sans', cell: sansText },
  { title: 'chain', cell: ({ chain }) => chain, wide: true },
  { title: 'policy', cell: entry => (entry.kind === 'start' ? '' : policyText(entry.policy)), wide: true },
  {
    title: 'message',
    cell: entry => (entry.kind === 'start' ? `written by ${entry.writer}` : entry.message),
    wide: true,
  },
]

function sansText(entry: AuditEntry): string {
  if (entry.kind === 'start') return ''
  const shown = entry.sans.map(({ name, proofs }) => `${name} (${proofs[0]?.level ?? 'unproven'})`)
  return [...shown, ...(entry.sansLeftOut ? [`${entry.sansLeftOut} more`] : [])].join(', ')
}

const reasonText = ({ reasons: [first = ''], repeated }: AuditedDecision) =>
  repeated === undefined ? first : `${first} (${repeated} times)`

const policyText = (policy: { name: string; revision: string } | undefined) =>
  policy ? `${policy.name} ${policy.revision}`.trim() : ''
