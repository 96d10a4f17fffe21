// Runs a TypeScript file on Node.js 24: node scripts/run24.mjs FILE [ARGUMENT …]
import { spawnSync } from 'node:child_process'
import { node24 } from './node24.mjs'

const result = spawnSync(node24(), ['--disable-warning=ExperimentalWarning', ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exit(result.status ?? 1)
