/** Each fault is made in a real `rollcall up`: the doctor finds its id, and nothing that is louder. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { allChecks } from '../src/doctor/all-checks.ts'
import { proofOf } from '../src/doctor/proofs.ts'
import { startControllers, stopControllers } from './support/doctor/controllers.ts'
import { type ExaminedUp, startExaminedUp } from './support/doctor/examined-up.ts'
import { issuedFaults } from './support/doctor/faults/issued.ts'
import { nodeFileFaults } from './support/doctor/faults/node-files.ts'
import { nodeSetupFaults } from './support/doctor/faults/node-setup.ts'
import { nodeFaults } from './support/doctor/faults/nodes.ts'
import { refusalFaults } from './support/doctor/faults/refusals.ts'
import { requestFaults } from './support/doctor/faults/requests.ts'
import { rotationFaults } from './support/doctor/faults/rotation.ts'
import { servingFaults } from './support/doctor/faults/serving.ts'
import { roleFaults, tokenFaults } from './support/doctor/faults/tokens-and-roles.ts'
import { kubeconfigFaults, trustFaults } from './support/doctor/faults/trust.ts'

const whileControlled = [...roleFaults, ...nodeFileFaults, ...nodeSetupFaults, ...servingFaults]
/** The controllers would mend these, or answer them. */
const otherwise = [
  ...tokenFaults,
  ...requestFaults,
  ...issuedFaults,
  ...refusalFaults,
  ...nodeFaults,
  ...trustFaults,
  ...kubeconfigFaults,
]

const all = [...whileControlled, ...otherwise, ...rotationFaults]

let up: ExaminedUp
before(async () => {
  up = await startExaminedUp()
})
after(() => up?.stop())

/** Nothing is found: what was broken before is mended. */
const well = async () => assert.deepEqual((await up.doctor('--probe')).findings, [])

test('a cluster in order gives no finding', () => well())

for (const fault of whileControlled)
  test(`${fault.id}: ${fault.what}`, { skip: fault.skip }, () => up.prove(fault))

test('the controllers are stopped', () => stopControllers(up))

for (const fault of otherwise) test(`${fault.id}: ${fault.what}`, () => up.prove(fault))

test('everything is as it was', async () => {
  await startControllers(up)
  await well()
})

for (const fault of rotationFaults) test(`${fault.id}: ${fault.what}`, () => up.prove(fault))

test('docs/reference/doctor says of these ids, and of no others, that their faults are made here', () => {
  const said = allChecks.map(({ meta }) => meta.id).filter(id => proofOf(id) === '`up`')
  // D10: doctor-on-up-hsm.test.ts.
  const made = new Set([...all.map(({ id }) => id), 'D10'])
  assert.deepEqual([...made].sort(), said)
})
