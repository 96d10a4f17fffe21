import assert from 'node:assert/strict'
import { test } from 'node:test'
import { configuredCgroupDriver } from './node-facts.ts'

test('who makes cgroups is read from what containerd shows of its configuration, of the default runtime alone', () => {
  const config = (systemd: boolean) =>
    JSON.stringify({
      containerd: {
        defaultRuntimeName: 'runc',
        runtimes: {
          runc: { options: { SystemdCgroup: systemd } },
          other: { options: { SystemdCgroup: true } },
        },
      },
    })
  assert.equal(configuredCgroupDriver({ config: config(true) }), 'systemd')
  for (const text of [config(false), '', '{', '[]', '{"containerd":{"runtimes":[]}}'])
    assert.equal(configuredCgroupDriver({ config: text }), 'cgroupfs')
  assert.equal(configuredCgroupDriver({}), 'cgroupfs')
})
