import assert from 'node:assert/strict'
import { exitCodeOf } from './diagnose.ts'
import { onFleet } from './testing/examined-cluster.ts'

onFleet('a healthy fleet gives no finding', async cluster => {
  const report = await cluster.examine()
  assert.deepEqual(report.findings, [])
  assert.deepEqual(
    report.checks.filter(({ status }) => status === 'SKIP' || status === 'FOUND'),
    [],
  )
  assert.equal(exitCodeOf(report), 0)
})
