import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { executable, runRollcall, temporaryFolder } from './support/rollcall-process.ts'

const folder = fileURLToPath(new URL('../deploy/systemd', import.meta.url))
const units = globSync(`${folder}/*.service`)
const analyze = '/usr/bin/systemd-analyze'

describe('the units of systemd', () => {
  for (const unit of units) {
    const name = basename(unit)
    const text = readFileSync(unit, 'utf8')

    test(`${name} is understood by systemd`, { skip: !existsSync(analyze) && `needs ${analyze}` }, () => {
      const copy = temporaryFolder()
      try {
        cpSync(folder, copy.path, { recursive: true })
        const path = join(copy.path, name)
        writeFileSync(path, text.replaceAll('/usr/local/bin/rollcall', executable))
        const { status, stderr } = spawnSync(analyze, ['verify', '--man=no', path], { encoding: 'utf8' })
        const own = stderr.split('\n').filter(line => line.includes(name))
        assert.deepEqual([status, own], [0, []], stderr)
      } finally {
        copy.remove()
      }
    })

    test(`${name} starts before the kubelet, does not wait for a network, and gives flags that there are`, async () => {
      assert.doesNotMatch(text, /^After=.*network/m)
      assert.match(text, /^Restart=always$/m)
      assert.match(text, /^StartLimitIntervalSec=0$/m)
      if (name.includes('-agent-')) {
        assert.match(text, /^Before=kubelet\.service$/m)
        assert.match(text, /^RuntimeDirectoryMode=0700$/m)
      }
      const [, command = ''] = /^ExecStart=\S+ (.*)$/m.exec(text) ?? []
      const { stdout } = await runRollcall(['agent', '--help'])
      for (const flag of command.match(/--[\w-]+/g) ?? []) assert.ok(stdout.includes(flag), flag)
    })
  }
})
