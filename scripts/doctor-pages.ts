// Writes docs/reference/doctor from the checks. Usage: node scripts/run24.mjs scripts/doctor-pages.ts
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { allChecks } from '../src/doctor/all-checks.ts'
import { checkPages } from '../src/doctor/check-page.ts'

const folder = fileURLToPath(new URL('../docs/reference/doctor/', import.meta.url))
const pages = checkPages(allChecks)
mkdirSync(folder, { recursive: true })
for (const file of readdirSync(folder)) if (!pages.has(file)) rmSync(folder + file)
for (const [file, text] of pages) writeFileSync(folder + file, text)
