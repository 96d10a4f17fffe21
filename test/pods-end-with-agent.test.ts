import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from './support/eventually.ts'
import { onJoinMachine } from './support/pod-join.ts'
import { processes } from './support/static-pods.ts'

test(
  'an agent that is told to ends its pods with itself, by their grace; otherwise they go on',
  onJoinMachine(
    () => ({
      ...processes,
      flags: ['--runtime', 'process', '--static-pods-as-root', '--max-container-restart-period', '1'],
      manifest: 'pod.yaml',
      version: /^rollcall:/,
    }),
    async machine => {
      machine.write({ name: 'web', script: machine.service('web') })
      machine.write({ name: 'crash', script: `echo run >>${machine.in('crash')}; exit 1` })
      const first = machine.agent()
      await eventually('it runs', () => machine.lines('web').length === 1)
      await eventually('the other one crashes, soon again', () => machine.lines('crash').length >= 4)
      await first.stop()
      const second = machine.agent('--stop-pods-on-exit')
      await eventually('it was taken over', () => second.stderr().includes('was taken over'))
      assert.equal(machine.lines('web').length, 1)
      assert.equal(await second.stop(), 0)
      assert.equal(machine.lines('web').at(-1), 'stopped')
    },
  ),
)
