import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { files, folder } from '../scripts/admission-policies.ts'

test('deploy/admission holds the admission policies as they are (node scripts/admission-policies.ts)', () => {
  const written = readdirSync(folder).map(name => [name, readFileSync(new URL(name, folder), 'utf8')])
  assert.deepEqual(Object.fromEntries(written), files)
})
