/** A real `rollcall up` whose signing key is in a token, and the token is pulled. */
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { type KubeEvent, resources } from '../src/kube/types.ts'
import { ask, node, register } from './support/doctor/actions.ts'
import { type ExaminedUp, startExaminedUp } from './support/doctor/examined-up.ts'
import { own } from './support/doctor/guest.ts'
import { eventually } from './support/eventually.ts'
import { runRollcall } from './support/rollcall-process.ts'
import { softHsm, whyNoSoftHsm } from './support/softhsm.ts'

suite('the signing key in a token', { skip: whyNoSoftHsm() }, () => {
  const hsm = softHsm('signing')
  let up: ExaminedUp | undefined
  after(async () => {
    await up?.stop()
    hsm.remove()
  })

  test('D10: the token that holds the signing key is gone', async () => {
    const key = hsm.uri('token=signing;object=ca')
    const made = await runRollcall(['key', 'generate', key], hsm.environment)
    assert.equal(made.code, 0, made.stderr)
    const running = await startExaminedUp({
      args: ['--signing-key', key],
      environment: hsm.environment,
    })
    up = running
    assert.deepEqual((await running.doctor()).findings, [])
    await running.prove({
      id: 'D10',
      what: 'the token that holds the signing key is gone',
      async make({ admin }) {
        hsm.pull()
        await register(running, own.of)
        const name = await ask({ by: node(running, own.of), ...own })
        await eventually('it is told that nobody can sign', async () => {
          const { items } = await admin.list<KubeEvent>(resources.events, {
            fieldSelector: `involvedObject.name=${name}`,
          })
          return items.some(({ reason }) => reason === 'SignerUnavailable')
        })
      },
      undo: () => hsm.putBack(),
    })
  })
})
