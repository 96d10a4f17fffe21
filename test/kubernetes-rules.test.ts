import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { page, problemsOf, render } from '../scripts/kubernetes-rules.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const advice = 'run: node scripts/kubernetes-rules.ts (on Node 24)'

test('every rule of API server, kubelet and wire is proven by a test or says why not, and every number in a test is a rule', () => {
  assert.deepEqual(problemsOf(root), [])
})

test('docs/reference/kubernetes-rules.md says what the tests prove', () => {
  assert.equal(readFileSync(page, 'utf8'), render(root), advice)
})
