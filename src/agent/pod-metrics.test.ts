import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { onSimulatedNode } from '../pods/testing/simulated-node.ts'
import { registerPodMetrics } from './pod-metrics.ts'

test(
  'metrics tell how static pods stand, and what is wrong with their manifests',
  onSimulatedNode(async node => {
    const registry = new Registry()
    registerPodMetrics(registry, node.pods)
    const shown = async () =>
      (await registry.metrics())
        .split('\n')
        .filter(line => line !== '' && !line.startsWith('#'))
        .map(line => line.replace('rollcall_static_pod', ''))
    assert.deepEqual(
      (await shown()).filter(line => /last_look|errors/.test(line)),
      ['_manifest_errors 0', 's_last_look_timestamp_seconds 0'],
    )
    await node.write('web')
    await node.write('bad', { containers: [] })
    node.pods.start()
    await node.pass(1)
    node.runtime.end('c', 1)
    await node.pass(1)
    const lines = await shown()
    for (const line of [
      's{phase="Pending"} 0',
      's{phase="Running"} 1',
      '_restarts{pod="default/web-node-a"} 1',
      '_ready{pod="default/web-node-a"} 1',
      '_start_seconds{pod="default/web-node-a"} 0',
      '_manifest_errors 1',
    ])
      assert.ok(lines.includes(line), `${line} in\n${lines.join('\n')}`)
    assert.ok(lines.some(line => /^s_last_look_timestamp_seconds 1\.?\d/.test(line)))
  }),
)
