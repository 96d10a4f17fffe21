import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemDisk } from '../../host/disk.ts'
import { type Disk, type Spawn, silentLog } from '../../ports.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import type { StaticPod } from '../pod.ts'
import { ProcessRuntime } from './process-runtime.ts'

const pod: StaticPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'a',
    namespace: 'kube-system',
    uid: 'u-1',
    annotations: { 'kubernetes.io/config.hash': 'h' },
  },
  spec: { containers: [{ name: 'c', image: 'host', command: ['/bin/true'] }] },
}

test('how a process ended is looked at again when the disk did not tell, and it is said', async t => {
  const stateDirectory = mkdtempSync(join(tmpdir(), 'rollcall-process-'))
  t.after(() => rmSync(stateDirectory, { recursive: true }))
  const clock = createManualClock(Date.UTC(2026, 0))
  const said = Promise.withResolvers<void>()
  const log = { ...silentLog, warn: () => said.resolve() }
  const ended = Promise.withResolvers<void>()
  let folder = ''
  const spawn: Partial<Spawn> = {
    user: 0,
    async start({ output }) {
      folder = output.replace(/\.log$/, '')
      return { processId: 4_194_305, ended: ended.promise }
    },
    signal() {},
  }
  let failures = 0
  const { watch: _none, ...unwatched } = systemDisk
  const disk: Disk = {
    ...unwatched,
    async read(path) {
      if (path.endsWith('/exit') && failures++ === 0)
        throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' })
      return systemDisk.read(path)
    },
  }
  const node = () => ({ nodeName: 'n', hostAddress: '127.0.0.1' })
  const runtime = new ProcessRuntime({
    stateDirectory,
    allowRoot: true,
    node,
    spawn: spawn as Spawn,
    disk,
    clock,
    log,
  })
  await runtime.open()
  t.after(() => runtime.close())
  const [container] = pod.spec.containers
  assert.ok(container)
  await runtime.start({ pod, container, init: false, attempt: 0, crashes: 0 })
  writeFileSync(join(folder, 'exit'), '0\n')

  ended.resolve()
  await said.promise
  assert.equal(runtime.containers()[0]?.state, 'Running')

  const changed = new Promise<void>(resolve => runtime.onChange(resolve))
  await clock.advance(2000)
  await changed
  const [{ state, exitCode } = {}] = runtime.containers()
  assert.deepEqual([state, exitCode, failures], ['Exited', 0, 2])
})
