import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Runtime } from '../runtime.ts'
import { onSimulatedNode } from '../testing/simulated-node.ts'

const lifecycle = { preStop: { exec: { command: ['/bin/drain'] } } }
const spec = {
  terminationGracePeriodSeconds: 10,
  containers: [{ name: 'c', image: 'host', command: ['/bin/true'], lifecycle }],
}
const until = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('ended'))))

const ends: [how: string, run: Runtime['exec'], why: string | undefined, seconds: number][] = [
  ['succeeds', async () => 0, undefined, 0],
  ['exits with another code', async () => 3, 'exit code 3', 0],
  ['cannot be run', () => Promise.reject(new Error('no such file')), 'Error: no such file', 0],
  ['never ends', (_, __, signal) => until(signal), 'Error: it took longer than the grace period', 10],
]
for (const [how, run, why, seconds] of ends) {
  test(
    `a container whose preStop ${how} is stopped, ${why ? 'and that is told' : 'and nothing is told'}`,
    onSimulatedNode(async node => {
      node.runtime.run = run
      await node.write('web', spec)
      node.pods.start()
      await node.pass(2)
      await node.remove('web')
      const removed = node.clock.monotonic() / 1000
      await node.pass(15)
      const stopped = node.runtime.events.find(line => line.includes(' stop '))
      const waited = Number(stopped?.split(' ')[0]) - removed
      assert.ok(waited >= seconds && waited <= seconds + 2, `it waited ${waited} s`)
      const { lines, fields } = node.log
      const told = fields.filter((_, index) => lines[index] === 'warn: preStop of a static pod failed')
      const pod = { pod: 'default/web-node-a', container: 'c' }
      assert.deepEqual(told, why === undefined ? [] : [{ ...pod, why }])
    }),
  )
}
