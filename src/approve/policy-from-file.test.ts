import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock, settle } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { parsePolicyFile, policiesFromFile } from './policy-from-file.ts'

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
  await clock.advance(11_000)
  await settle()
  assert.equal(evidence(), 'ProtectedNodeStatus')
  assert.equal(changes, 2)
  const errors = log.lines.filter(line => line.startsWith('error'))
  assert.equal(errors.length, 2)
  await source.stop()
  assert.equal(clock.pending(), 0)
})

test('half of a policy that is being written does not count, though it is good YAML', async () => {
  const clock = createManualClock(0)
  const whole = `${document('')}  preset: strict\n  mode: manual\n`.replace('spec: {}', 'spec:')
  let content = whole
  const read = async () => new TextEncoder().encode(content)
  const modes: (string | undefined)[] = []
  const follow = policiesFromFile({ path: 'p.yaml', disk: { read }, clock, log: recordingLog() })
  const source = follow(() => void modes.push(source.inForce()?.policy.mode))
  await source.settled
  content = whole.replace(/ {2}mode: .*/, '')
  await clock.advance(10_500)
  content = `${whole}# as before\n`
  await clock.advance(20_000)
  assert.deepEqual(modes.slice(1), ['manual'])
  await source.stop()
  assert.equal(clock.pending(), 0)
})

test('a file that was never good leaves no doubt that a policy was written', async () => {
  const clock = createManualClock(0)
  let content = document('preset: lax')
  const read = async () => new TextEncoder().encode(content)
  const source = policiesFromFile({ path: 'p.yaml', disk: { read }, clock, log: recordingLog() })(() => {})
  await source.settled
  assert.match(source.unusable() ?? '', /p\.yaml:4:.*preset/)
  content = document('preset: lab')
  await clock.advance(11_000)
  await settle()
  assert.equal(source.unusable(), undefined)
  await source.stop()
})

test('a policy file that was cut off, as on a full disk, is refused though what is left is good YAML', () => {
  const whole = `${document('').replace('spec: {}', 'spec:')}  preset: strict\n  mode: manual\n`
  assert.equal(parsePolicyFile(whole, 'p')[0]?.spec.mode, 'manual')
  const cut = whole.slice(0, whole.indexOf('\n  mode'))
  assert.throws(() => parsePolicyFile(cut, 'p'), /does not end in a line break/)
  assert.equal(parsePolicyFile(document('preset: lab').trimEnd(), 'p').length, 1)
})
