// Time from the start of a one-shot command to its first output, warm, from what `npm run build` writes, against an `up` beside it.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { line, median } from './measure.ts'

const RUNS = 9
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
if (!existsSync(main)) throw new Error('there is no dist; run npm run build first')
const flags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=16', '--v8-pool-size=1']
const cache = temporaryFolder()
const env = { ...process.env, NODE_COMPILE_CACHE: cache.path }

/** Milliseconds until the first byte on stdout. */
function firstOutput(args: readonly string[]): Promise<number> {
  const began = performance.now()
  const child = spawn(process.execPath, [...flags, main, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return new Promise((resolve, reject) => {
    let first: number | undefined
    child.stdout.on('data', () => {
      first ??= performance.now() - began
    })
    child.once('close', code => {
      if (first === undefined) reject(new Error(`${args.join(' ')} printed nothing and ended with ${code}`))
      else resolve(first)
    })
  })
}

/** Milliseconds that Node.js takes to start and do nothing. */
function bareStart(): number {
  const began = performance.now()
  spawnSync(process.execPath, [...flags, '-e', '0'])
  return performance.now() - began
}

const folder = temporaryFolder()
const up = startRollcall(['up', '--nodes', '3', '--dir', folder.path, '--port', '0'])
await up.ready
const connection = ['--kubeconfig', join(folder.path, 'admin.kubeconfig')]
const figures: string[] = []
for (const command of [['status'], ['nodes'], ['csr', 'ls'], ['certs', 'ls'], ['--version']]) {
  const args = command[0] === '--version' ? command : [...command, ...connection]
  await firstOutput(args) // fills the compile cache
  const runs: number[] = []
  for (let run = 0; run < RUNS; run += 1) runs.push(await firstOutput(args))
  figures.push(`${command.join(' ')} ${Math.round(median(runs))}`)
}
await up.stop()
folder.remove()
cache.remove()
line(
  'commands',
  `ms to first output, median of ${RUNS}: ${figures.join(', ')} (target 150)`,
  `a start of Node.js that does nothing takes ${Math.round(median([1, 2, 3, 4, 5].map(bareStart)))} ms`,
)
