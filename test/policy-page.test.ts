import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { page, policyPage } from '../scripts/policy-page.ts'

test('docs/reference/certificate-policy.md is what scripts/policy-page.ts writes', () => {
  assert.equal(readFileSync(page, 'utf8'), policyPage())
})
