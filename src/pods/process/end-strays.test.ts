import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../host/clock.ts'
import { systemDisk } from '../../host/disk.ts'
import { systemSpawn } from '../../host/spawn.ts'
import { ownIdentity, parseIdentity } from '../state/process-identity.ts'
import { endStrays } from './end-strays.ts'

test('attack: a session that has the number of a dead shim is left alone, unless it writes to the log of that run', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-strays-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const run = join(folder, 'pods/a/main/0')
  mkdirSync(run, { recursive: true })
  const bootId = parseIdentity(await ownIdentity(systemDisk))?.bootId ?? assert.fail()
  const ports = { clock: systemClock, disk: systemDisk, spawn: systemSpawn }

  /** A session whose leader has gone; its member says who it is in the first line that it writes. */
  async function session(output: string): Promise<{ leader: number; member: number }> {
    const file = openSync(output, 'w')
    const script = "sh -c 'echo $$; exec sleep 60' & read -r _; exit 0"
    const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', file, 'ignore'] })
    closeSync(file)
    let text = ''
    while (!text.endsWith('\n')) {
      await new Promise(resolve => setImmediate(resolve))
      text = readFileSync(output, 'utf8')
    }
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.stdin?.end('\n')
    await ended
    return { leader: child.pid ?? assert.fail(), member: Number(text) }
  }
  const lives = (id: number) => !/\) [ZX] /.test(readFileSync(`/proc/${id}/stat`, 'utf8'))

  const other = await session(join(folder, 'other.log'))
  await endStrays({ processId: other.leader, startTicks: '1', bootId }, run, ports)
  assert.ok(lives(other.member))
  process.kill(-other.leader, 'SIGKILL')

  const stray = await session(`${run}.log`)
  await endStrays({ processId: stray.leader, startTicks: '1', bootId: 'another boot' }, run, ports)
  assert.ok(lives(stray.member))
  await endStrays({ processId: stray.leader, startTicks: '1', bootId }, run, ports)
  assert.ok(!existsSync(`/proc/${stray.member}`) || !lives(stray.member))
})
