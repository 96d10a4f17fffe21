import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command } from 'commander'
import { hasCode } from '../../errors.ts'
import { type CARotationObject, caRotation } from '../../kube/rollcall/ca-rotation.ts'
import { onCluster } from '../../testing/controlled-cluster.ts'
import type { CommandIo } from '../command-io.ts'
import { register } from './ca.ts'

test(
  'ca start --proof says how much is enough of a kind of consumers, and only kinds and levels that there are',
  onCluster(async ({ admin, clock }) => {
    const io: CommandIo = {
      stdout() {},
      stderr() {},
      clock,
      isTerminal: false,
      connect: async () => ({ client: admin, server: 'https://192.0.2.1', close() {} }),
      exitWith() {},
    }
    const start = async (...words: string[]) => {
      const program = new Command('rollcall').exitOverride()
      register(program, io)
      await program.parseAsync(['ca', 'start', 'apiserver-serving', ...words], { from: 'user' })
    }
    for (const wrong of ['Scheduler', 'Scheduler=4', 'Nobody=2'])
      await assert.rejects(
        start('--proof', wrong),
        error => hasCode(error, 'USAGE') && /--proof/.test(error.message),
      )
    await start('--proof', 'ControllerManager=2', '--proof', 'Scheduler=2')
    const { spec } = await admin.get<CARotationObject>(caRotation.ref, { name: 'apiserver-serving-2' })
    assert.deepEqual(spec.policy?.minimumProof, { ControllerManager: 2, Scheduler: 2 })
  }),
)
