import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Path of a Node.js 24 or newer: this one, the one from node_modules, or the first in PATH. Throws when there is none. */
export function node24() {
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  const own = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node')
  if (existsSync(own)) return own
  const version = spawnSync('node', ['--version'], { encoding: 'utf8' }).stdout ?? ''
  if (Number(version.slice(1).split('.')[0]) >= 24) return 'node'
  throw new Error('needs Node.js 24 or newer; run "node scripts/setup.mjs --tests" first')
}
