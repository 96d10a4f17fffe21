import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { allChecks } from './all-checks.ts'
import { checkPages } from './check-page.ts'

const folder = fileURLToPath(new URL('../../docs/reference/doctor/', import.meta.url))

test('docs/reference/doctor is what scripts/doctor-pages.ts makes of the checks', () => {
  const pages = checkPages(allChecks)
  assert.deepEqual(readdirSync(folder).sort(), [...pages.keys()].sort())
  for (const [file, text] of pages) {
    assert.equal(
      readFileSync(folder + file, 'utf8'),
      text,
      `${file} is stale: node scripts/run24.mjs scripts/doctor-pages.ts`,
    )
  }
})

test('every report names a repository and a number', () => {
  for (const { meta } of allChecks)
    for (const report of meta.reports ?? []) assert.match(report, /^[\w.-]+\/[\w.-]+#\d+$/, meta.id)
})

test('what is printed to paste quotes what others chose', () => {
  const files = readdirSync(new URL('./checks/', import.meta.url))
  for (const file of files) {
    const text = readFileSync(new URL(`./checks/${file}`, import.meta.url), 'utf8')
    for (const [, command = ''] of text.matchAll(/run:\s*`([^`]*)`/g)) {
      const loose = [...command.matchAll(/\$\{(?!shellWord\(|role\}|shown\})[^}]*\}/g)].map(
        ([found]) => found,
      )
      assert.deepEqual(loose, [], `${file}: ${command}`)
    }
  }
})
