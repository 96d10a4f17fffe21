import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { definitionFiles, folder } from '../scripts/crds.ts'

test('deploy/crds holds the CustomResourceDefinitions of all kinds as they are (node scripts/crds.ts)', () => {
  const written = readdirSync(folder).map(name => [name, readFileSync(new URL(name, folder), 'utf8')])
  assert.deepEqual(Object.fromEntries(written), Object.fromEntries(definitionFiles()))
})
