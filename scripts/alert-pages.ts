// Writes docs/reference/alerts from the rules. Usage: node scripts/run24.mjs scripts/alert-pages.ts
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { alertPages, alertRules } from './alert-pages-list.ts'

const folder = fileURLToPath(new URL('../docs/reference/alerts/', import.meta.url))
const pages = alertPages(alertRules())
mkdirSync(folder, { recursive: true })
for (const file of readdirSync(folder)) if (!pages.has(file)) rmSync(folder + file)
for (const [file, text] of pages) writeFileSync(folder + file, text)
