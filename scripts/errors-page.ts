/** Writes docs/reference/errors.md from src/errors.ts. Usage: node scripts/run24.mjs scripts/errors-page.ts */
import { realpathSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type ErrorKind, errorKinds } from '../src/errors.ts'

export const errorsPage = new URL('../docs/reference/errors.md', import.meta.url)

/** What the API answers with it: HTTP status and reason; nothing where it never gets that far. */
function answer({ status, reason }: ErrorKind): string {
  return status === undefined ? '' : `${status} ${reason ?? ''}`.trim()
}

/** The whole page in Markdown. */
export function renderErrorsPage(): string {
  const rows = Object.entries<ErrorKind>(errorKinds).map(
    ([code, kind]) => `| ${code} | ${kind.meaning} | ${answer(kind)} | ${kind.exit ?? 1} |`,
  )
  return `# Error codes

Made by \`node scripts/run24.mjs scripts/errors-page.ts\` from src/errors.ts; do not edit.

A code is never renamed. What happened, to which object and what to do stands in the message beside it. *API* is what the
embedded API answers with it, *exit* the exit code of a command that ends with it.

| code | what it means | API | exit |
|---|---|---|---|
${rows.join('\n')}
`
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  writeFileSync(errorsPage, renderErrorsPage())
