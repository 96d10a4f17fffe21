// Writes docs/reference/field-reports.md. Usage: node scripts/run24.mjs scripts/field-reports-page.ts
import { writeFileSync } from 'node:fs'
import { allChecks } from '../src/doctor/all-checks.ts'
import { fieldReportsPage } from '../src/doctor/field-reports/field-reports-page.ts'
import { reportSections } from '../src/doctor/field-reports/report-sections.ts'
import { numberedTests } from '../src/testing/numbered-tests.ts'

const page = new URL('../docs/reference/field-reports.md', import.meta.url)
writeFileSync(page, fieldReportsPage(reportSections, allChecks, numberedTests()))
