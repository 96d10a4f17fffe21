import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseAllDocuments } from 'yaml'
import { attestationRules, machineRules } from '../controller/rbac.ts'
import { attestationSeeds } from './seed-objects.ts'

test('deploy/rbac/rollcall-attestation.yaml grants what the embedded cluster grants', () => {
  const path = new URL('../../deploy/rbac/rollcall-attestation.yaml', import.meta.url)
  const documents = parseAllDocuments(readFileSync(path, 'utf8')).map(document => document.toJS())
  const [account, binding, ...others] = documents
  assert.deepEqual(
    [account, binding],
    attestationSeeds().map(({ object }) => object),
  )
  const rules = (kind: string) => others.find(document => document.kind === kind)?.rules
  assert.deepEqual(rules('Role'), attestationRules)
  assert.deepEqual(rules('ClusterRole'), machineRules)
})
