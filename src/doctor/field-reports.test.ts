import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { allChecks } from './all-checks.ts'
import { fieldReports, fieldReportsPage } from './field-reports.ts'

test('each report leads to diagnoses that there are, and is told once', () => {
  const known = new Set(allChecks.map(({ meta }) => meta.id))
  assert.deepEqual(
    fieldReports.flatMap(({ ids }) => ids).filter(id => !known.has(id)),
    [],
  )
  const all = fieldReports.flatMap(({ reports }) => reports)
  assert.deepEqual(all, [...new Set(all)])
  for (const report of all) assert.match(report, /^[\w.-]+\/[\w.-]+#\d+$/)
})

test('docs/reference/field-reports.md is what scripts/field-reports-page.ts writes', () => {
  const page = readFileSync(new URL('../../docs/reference/field-reports.md', import.meta.url), 'utf8')
  assert.equal(page, fieldReportsPage(allChecks), 'node scripts/run24.mjs scripts/field-reports-page.ts')
})
