import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock, settle } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { policiesFromFile } from './policy-from-file.ts'

const document = (spec: string) =>
  `apiVersion: rollcall.dev/v1alpha1\nkind: CertificatePolicy\nmetadata: {name: default}\nspec: {${spec}}\n`

test('a policy file is read again; one that became wrong changes nothing and is told once', async () => {
  const clock = createManualClock(0)
  const log = recordingLog()
  let content: string | undefined = document('preset: lab')
  const read = async () => {
    if (content === undefined) throw Object.assign(new Error('gone'), { code: 'ENOENT' })
    return new TextEncoder().encode(content)
  }
  let changes = 0
  const source = policiesFromFile({ path: 'p.yaml', disk: { read }, clock, log })(() => void changes++)
  await source.settled
  const evidence = () => source.inForce()?.policy.evidence
  assert.equal(evidence(), 'NodeStatus')
  content = document('preset: lax')
  await clock.advance(30_000)
  content = undefined
  await clock.advance(10_000)
  assert.equal(evidence(), 'NodeStatus')
  content = document('preset: strict')
  await clock.advance(10_000)
  await settle()
  assert.equal(evidence(), 'ProtectedNodeStatus')
  assert.equal(changes, 2)
  const errors = log.lines.filter(line => line.startsWith('error'))
  assert.equal(errors.length, 2)
  await source.stop()
  assert.equal(clock.pending(), 0)
})
