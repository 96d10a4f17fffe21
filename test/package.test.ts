import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from './support/rollcall-process.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = temporaryFolder()
after(() => folder.remove())

test('the packed package, installed elsewhere by npm, brings its Node 24 and runs `rollcall up`', {
  timeout: 300_000,
}, async () => {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: 'pipe' })
  // --ignore-scripts: npm pack would run prepack scripts with the developer's environment.
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', folder.path], {
    cwd: root,
    stdio: 'pipe',
  })
  const [tarball] = readdirSync(folder.path).filter(name => name.endsWith('.tgz'))
  assert.ok(tarball)
  writeFileSync(join(folder.path, 'package.json'), '{"private":true}')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', `./${tarball}`], {
    cwd: folder.path,
    stdio: 'pipe',
  })
  const installed = join(folder.path, 'node_modules/rollcall')
  assert.ok(!readdirSync(installed).includes('src'), 'the package must run from dist/')

  // PATH without the runtime of this test, so that the launcher has to find its own Node 24.
  const child = spawn(
    join(folder.path, 'node_modules/.bin/rollcall'),
    ['up', '--nodes', '2', '--port', '0', '--dir', join(folder.path, 'data')],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, PATH: '/usr/local/bin:/usr/bin:/bin' },
    },
  )
  const ended = new Promise(resolve => child.on('exit', resolve))
  try {
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', text => text.startsWith('ready ') && resolve(text))
      child.on('exit', code => reject(new Error(`rollcall up ended with ${code} before it was ready`)))
    })
    assert.match(line, /^ready 2\/2 /)
    await assertServesPage(join(folder.path, 'data/admin.kubeconfig'))
  } finally {
    child.kill('SIGTERM')
    await ended
  }
})

/** The dashboard, with all that it is made of. */
async function assertServesPage(kubeconfig: string): Promise<void> {
  const command = [join(folder.path, 'node_modules/.bin/rollcall'), 'dashboard', '--kubeconfig', kubeconfig]
  const link = execFileSync('sh', command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
  const page = await (await fetch(link)).text()
  const modules = [...page.matchAll(/modulepreload" href="([^"]+)"/g)].map(([, path = '']) => path)
  assert.ok(modules.length > 20)
  for (const path of ['/dashboard/style.css', ...modules])
    assert.equal((await fetch(new URL(path, link))).status, 200, path)
}
