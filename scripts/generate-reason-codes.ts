/** Writes docs/reference/reason-codes.md. Usage: node scripts/generate-reason-codes.ts */
import { writeFileSync } from 'node:fs'
import { reasonCodesPage } from '../src/approve/reason-codes-page.ts'

writeFileSync(new URL('../docs/reference/reason-codes.md', import.meta.url), reasonCodesPage())
