import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { allChecks } from './all-checks.ts'
import { nothingGathered } from './artifacts/artifacts.ts'
import { diagnose, exitCodeOf } from './diagnose.ts'

const folder = dirname(fileURLToPath(import.meta.url))
const ids = allChecks.map(({ meta }) => meta.id)

test('each check has an id of its own, in the order of the ids, in a file of that name', () => {
  assert.deepEqual(ids, [...new Set(ids)].sort())
  const files = readdirSync(join(folder, 'checks')).map(file => file.slice(0, 3).toUpperCase())
  assert.deepEqual(files.sort(), ids)
})

test('what a check explains is a check, and none explains itself through others', () => {
  const byId = new Map(allChecks.map(check => [check.meta.id, check.meta.explains ?? []]))
  const visit = (id: string, path: readonly string[]): void => {
    assert.ok(byId.has(id), `${path.at(-1)} explains ${id}, which is no check`)
    assert.ok(!path.includes(id), `${[...path, id].join(' explains ')}`)
    for (const next of byId.get(id) ?? []) visit(next, [...path, id])
  }
  for (const id of ids) visit(id, [])
})

test('each check has a test that makes its fault and finds its id', () => {
  const tests = readdirSync(folder).filter(file => file.endsWith('.test.ts'))
  const text = tests.map(file => readFileSync(join(folder, file), 'utf8')).join('\n')
  const missing = ids.filter(
    id => !text.includes(`finds('${id}'`) && !new RegExp(`test\\(\\s*'${id}: `).test(text),
  )
  assert.deepEqual(missing, [])
})

test('what could not be looked at is SKIP, never OK', () => {
  const forbidden = { status: 'forbidden', reason: 'no right' } as const
  const gathered = Object.fromEntries(Object.keys(nothingGathered('')).map(name => [name, forbidden]))
  const report = diagnose('x', { ...nothingGathered(''), ...gathered }, 0, allChecks)
  assert.deepEqual(
    report.checks.filter(({ status }) => status !== 'SKIP'),
    [],
  )
  assert.equal(exitCodeOf(report), 4)
})
