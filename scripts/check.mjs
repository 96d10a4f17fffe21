// The static checks: types, lint and format, import layers and the doors to the world. Usage: npm run check
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { node24 } from './node24.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = name => join(root, 'node_modules', '.bin', name)
const checks = [
  ['types', bin('tsc'), ['-p', '.']],
  ['types of the page', bin('tsc'), ['-p', 'dashboard']],
  ['lint and format', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['import layers and doors', node24(), [join(root, 'scripts', 'check-source.mjs')]],
]
let failed = false
for (const [name, command, args] of checks) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' })
  console.log(`${status === 0 ? 'ok  ' : 'FAIL'} ${name}`)
  failed ||= status !== 0
}
process.exit(failed ? 1 : 0)
