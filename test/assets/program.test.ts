import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runs } from '../support/processes.ts'
import { temporaryFolder } from '../support/rollcall-process.ts'

// A folder of assets whose programs are shell scripts: what starts and ends real ones must not fail them.
const folder = temporaryFolder()
const script = (name: string, text: string) =>
  writeFileSync(join(folder.path, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 })
script('etcd', 'echo "cannot: $*"; exit 3')
script('kubelet', 'echo started; exec sleep 600')
process.env.ROLLCALL_TEST_ASSETS = folder.path
const { noAssets } = await import('./folder.ts')
const { startProgram } = await import('./program.ts')
after(() => folder.remove())

const logFile = join(folder.path, 'log')

test('what is missing in the folder is named', () => {
  assert.equal(noAssets('etcd', 'kubelet'), false)
  assert.equal(noAssets('etcd', 'kube-apiserver'), `not run: no assets (kube-apiserver in ${folder.path})`)
})

test('a program that ends before it is ready fails the start, with its flags and what it printed', async () => {
  const isReady = async () => false
  await assert.rejects(startProgram('etcd', { flags: { name: 'x' }, logFile, isReady }), {
    message: /^etcd did not become ready:\n[\s\S]*cannot: --name=x/,
  })
})

test('a program that runs is ended by its process id', async () => {
  const program = await startProgram('kubelet', { flags: {}, logFile, isReady: async () => true })
  assert.ok(runs(program.pid))
  await program.stop()
  assert.equal(runs(program.pid), false)
})
