import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runCommand } from '../testing/command-run.ts'
import { onCluster } from '../testing/controlled-cluster.ts'
import { register } from './simulate.ts'

test(
  'simulate ca-rollover loses no node, and loses nodes without gates; the same seed tells the same',
  onCluster(async ({ admin, clock }) => {
    const run = async (...words: string[]) => {
      const asked = ['simulate', 'ca-rollover', '--nodes', '12', ...words, '-o', 'json']
      return JSON.parse((await runCommand(register, admin, clock, ...asked)).stdout)
    }
    const gated = await run('--seed', '7')
    assert.deepEqual([gated.nodesLost, gated.phase, gated.refused, gated.broken], [0, 'Done', 0, []])
    assert(gated.handshakes > 50)
    assert.deepEqual(await run('--seed', '7'), gated)
    const blind = await run('--seed', '7', '--no-gates')
    assert.deepEqual([blind.nodesLost, blind.phase], [12, 'Done'])
    assert(blind.refused > 0, 'TLS refuses as the model says')
  }),
)
