// Writes docs/reference/field-reports.md. Usage: node scripts/run24.mjs scripts/field-reports-page.ts
import { writeFileSync } from 'node:fs'
import { allChecks } from '../src/doctor/all-checks.ts'
import { fieldReportsPage } from '../src/doctor/field-reports.ts'

writeFileSync(new URL('../docs/reference/field-reports.md', import.meta.url), fieldReportsPage(allChecks))
