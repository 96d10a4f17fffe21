import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { numberedTests } from '../../testing/numbered-tests.ts'
import { allChecks } from '../all-checks.ts'
import { fieldReportsPage } from './field-reports-page.ts'
import { idsOf } from './report-section.ts'
import { reportSections } from './report-sections.ts'

const fieldReports = reportSections.flatMap(({ reports }) => reports)
const heldElsewhere = reportSections.flatMap(section => section.heldElsewhere ?? [])

test('each report leads to diagnoses that there are, and is told once', () => {
  const known = new Set(allChecks.map(({ meta }) => meta.id))
  const untracked = reportSections.flatMap(section => section.untracked ?? [])
  assert.deepEqual(
    [...fieldReports, ...untracked].flatMap(({ ids }) => ids).filter(id => !known.has(id)),
    [],
  )
  const all = [...fieldReports, ...heldElsewhere].flatMap(({ reports }) => reports)
  assert.ok(fieldReports.every(({ reports }) => reports.length > 0) && all.length > 150)
  assert.deepEqual(all, [...new Set(all)])
  for (const report of all) assert.match(report, /^[\w.-]+\/[\w.-]+#\d+$/)
})

test('each report that a check names is in the list, which leads to that check', () => {
  const rows = new Map(fieldReports.flatMap(row => row.reports.map(report => [report, row])))
  for (const { meta } of allChecks)
    for (const report of meta.reports ?? []) {
      const row = rows.get(report)
      assert.ok(row && idsOf(row, allChecks).includes(meta.id), `${meta.id} names ${report}`)
    }
})

test('what no diagnosis finds is held by a test that there is', () => {
  for (const { by } of heldElsewhere) {
    const text = readFileSync(new URL(`../../../${by}`, import.meta.url), 'utf8')
    assert.match(text, /\b(test|cases)\b/, by)
  }
})

test('each report that concerns a node is a test by its number, and each number in a test is a report', () => {
  const numbers = new Set([...fieldReports, ...heldElsewhere].flatMap(({ numbers = [] }) => numbers))
  assert.deepEqual(
    [...numberedTests().keys()].sort((a, b) => a - b),
    [...numbers].sort((a, b) => a - b),
  )
})

test('docs/reference/field-reports.md is what scripts/field-reports-page.ts writes', () => {
  const page = readFileSync(new URL('../../../docs/reference/field-reports.md', import.meta.url), 'utf8')
  assert.equal(
    page,
    fieldReportsPage(reportSections, allChecks, numberedTests()),
    'node scripts/run24.mjs scripts/field-reports-page.ts',
  )
})
