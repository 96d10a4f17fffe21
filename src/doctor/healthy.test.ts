import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exitCodeOf } from './diagnose.ts'
import { onFleet } from './testing/examined-cluster.ts'

test(
  'a healthy fleet gives no finding',
  onFleet(async cluster => {
    const report = await cluster.examine()
    assert.deepEqual(report.findings, [])
    assert.deepEqual(
      report.checks.filter(({ status }) => status === 'SKIP' || status === 'FOUND'),
      [],
    )
    assert.equal(exitCodeOf(report), 0)
  }),
)
