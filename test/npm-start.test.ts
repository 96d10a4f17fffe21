import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { systemCode } from '../src/errors.ts'
import { startRollcall, temporaryFolder } from './support/rollcall-process.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = temporaryFolder()
after(() => folder.remove())

/** What outlived its leader, if anything did. */
function killGroup(leader = 0): void {
  try {
    if (leader > 0) process.kill(-leader, 'SIGKILL')
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error
  }
}

test('SIGTERM to `npm start` ends rollcall too: nothing holds the data directory afterwards', {
  timeout: 60_000,
}, async () => {
  const options = ['--nodes', '1', '--port', '0', '--dir', join(folder.path, 'data')]
  // Without prestart, which may install packages.
  const npm = spawn('npm', ['start', '--ignore-scripts', '--', ...options], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  const lines = createInterface({ input: npm.stdout })
  await new Promise<void>((resolve, reject) => {
    lines.on('line', text => text.startsWith('ready ') && resolve())
    npm.on('exit', code => reject(new Error(`npm start ended with ${code} before it was ready`)))
  })
  try {
    const ended = new Promise(resolve => npm.on('exit', resolve))
    npm.kill('SIGTERM')
    await ended
    const again = startRollcall(['up', ...options])
    await again.ready
    assert.equal(await again.stop(), 0)
  } finally {
    killGroup(npm.pid)
  }
})

test('a build without the development packages says what to do', () => {
  const clone = join(folder.path, 'clone')
  mkdirSync(clone)
  cpSync(join(root, 'scripts'), join(clone, 'scripts'), { recursive: true })
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs'], {
    cwd: clone,
    encoding: 'utf8',
  })
  assert.equal(status, 1)
  assert.match(
    stderr,
    /^rollcall: the TypeScript compiler is missing; run 'npm run build', which installs it\.\n$/,
  )
})
