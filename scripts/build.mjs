// Makes dist/ for the published package: the sources of src/ without tests, types stripped, imports rewritten to .js; and the dashboard's page.
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { node24 } from './node24.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const compiler = join(root, 'node_modules', '.bin', 'tsc')
if (!existsSync(compiler)) {
  console.error("rollcall: the TypeScript compiler is missing; run 'npm run build', which installs it.")
  process.exit(1)
}
rmSync(join(root, 'dist'), { recursive: true, force: true })
const { status } = spawnSync(compiler, ['-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
})
if (status !== 0) process.exit(status ?? 1)
const page = spawnSync(
  node24(),
  ['--disable-warning=ExperimentalWarning', join(root, 'scripts/build-page.mjs')],
  {
    stdio: 'inherit',
  },
)
process.exit(page.status ?? 1)
