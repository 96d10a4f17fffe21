import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { seedObjects } from './seed-objects.ts'

test('deploy/rbac/rollcall-node-trust.yaml grants what the embedded cluster grants', () => {
  const path = new URL('../../deploy/rbac/rollcall-node-trust.yaml', import.meta.url)
  const objects = parseAllDocuments(readFileSync(path, 'utf8')).map(document => document.toJS())
  for (const object of objects) {
    const seeded = seedObjects('').find(
      seed => seed.object.kind === object.kind && seed.object.metadata.name === object.metadata.name,
    )
    assert.deepEqual(object, JSON.parse(JSON.stringify(seeded?.object)))
  }
  assert.equal(objects.length, 2)
})
