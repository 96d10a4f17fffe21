/** docs/reference/field-reports.md: which diagnosis catches what happened to others; scripts/field-reports-page.ts writes it. */
import type { Check } from '../check.ts'
import { idsOf, type ReportSection } from './report-section.ts'

/** By number: the files with a test whose name begins with it. */
export type NumberedTests = ReadonlyMap<number, readonly string[]>

/** The page, Markdown. */
export function fieldReportsPage(
  sections: readonly ReportSection[],
  checks: readonly Check[],
  tests: NumberedTests,
): string {
  const elsewhere = sections.flatMap(({ heldElsewhere = [] }) =>
    heldElsewhere.map(
      ({ reports, seen, by }) => `| ${reports.map(linked).join(', ')} | ${seen} | \`${by}\` |`,
    ),
  )
  return `<!-- Made from src/doctor/field-reports by scripts/field-reports-page.ts; change it there. -->
# What happened to others, and what finds it

Public reports of node certificates that failed. Each diagnosis has a test that makes its fault and finds this id.

${sections.map(section => sectionText(section, checks)).join('')}${numbersText(sections, tests)}## Held by another part
Reports that are about the tool itself, not about a cluster: no diagnosis finds them, and a test holds that Rollcall has no
such fault.

| report | what was seen | held by |
|---|---|---|
${elsewhere.join('\n')}
`
}

/** Empty where no diagnosis is about it. */
function sectionText({ title, reports, untracked = [] }: ReportSection, checks: readonly Check[]): string {
  const linkedIds = (ids: readonly string[]) => ids.map(id => `[${id}](doctor/${id}.md)`).join(', ')
  const rows = [
    ...reports.map(
      row => `| ${row.reports.map(linked).join(', ')} | ${row.seen} | ${linkedIds(idsOf(row, checks))} |`,
    ),
    ...untracked.map(({ title, seen, ids }) => `| ${title} | ${seen} | ${linkedIds(ids)} |`),
  ]
  if (rows.length === 0) return ''
  return `## ${title}
| report | what was seen | found by |
|---|---|---|
${rows.join('\n')}

`
}

/** What a node of ours does about those that concern it. */
function numbersText(sections: readonly ReportSection[], tests: NumberedTests): string {
  const rows = sections
    .flatMap(({ reports, heldElsewhere = [] }) => [...reports, ...heldElsewhere])
    .flatMap(({ numbers = [], seen }) => numbers.map(number => ({ number, seen })))
    .sort((a, b) => a.number - b.number)
  const once = [...Map.groupBy(rows, ({ number }) => number)]
  const lines = once.map(([number, same]) => {
    const files = (tests.get(number) ?? []).map(file => `\`${file}\``).join('<br>')
    return `| ${number} | ${same.map(({ seen }) => seen).join('; ')} | ${files} |`
  })
  return `## What a node does about it
Those that concern a node have a number, with which the names of tests begin: \`report 17: …\`.

| number | what was seen | tests |
|---|---|---|
${lines.join('\n')}

`
}

function linked(report: string): string {
  const [repository = '', number = ''] = report.split('#')
  return `[${report}](https://github.com/${repository}/issues/${number})`
}
