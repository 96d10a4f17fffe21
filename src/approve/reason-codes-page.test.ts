import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { reasonCodesPage } from './reason-codes-page.ts'

test('docs/reference/reason-codes.md is what scripts/generate-reason-codes.ts writes', () => {
  const page = readFileSync(new URL('../../docs/reference/reason-codes.md', import.meta.url), 'utf8')
  assert.equal(page, reasonCodesPage())
})
