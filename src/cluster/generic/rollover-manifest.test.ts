import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { rolloverRules } from '../../controller/rbac.ts'

test('deploy/rbac/rollcall-rollover.yaml grants what test/generic-rollover.test.ts does with, and no more', () => {
  const path = new URL('../../../deploy/rbac/rollcall-rollover.yaml', import.meta.url)
  assert.deepEqual(parse(readFileSync(path, 'utf8')).rules, rolloverRules)
})
