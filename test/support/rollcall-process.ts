import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export const executable = fileURLToPath(new URL('../../bin/rollcall', import.meta.url))

export interface RollcallProcess {
  child: ChildProcess
  /** The line that starts with `ready `. Rejects when the process ends before it. */
  ready: Promise<string>
  /** Resolves with the exit code or the signal. */
  ended: Promise<number | NodeJS.Signals>
  /** All of stderr so far. */
  stderr(): string
  /** SIGTERM, then waits for the end. */
  stop(): Promise<number | NodeJS.Signals>
}

/** Ends of processes that still run; a test that is interrupted itself must leave none behind. */
const leftovers = new Set<() => void>()
process.on('exit', () => {
  for (const end of leftovers) end()
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

/** Starts `bin/rollcall` for real. It is ended by its own process id, or with `ownGroup` as a whole group by `-pid`. */
export function startRollcall(
  args: string[],
  environment: Record<string, string> = {},
  { ownGroup = false } = {},
): RollcallProcess {
  const child = spawn(executable, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
    detached: ownGroup,
  })
  let stderr = ''
  let stdout = ''
  child.stderr?.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  const ended = new Promise<number | NodeJS.Signals>(resolve => {
    const kill = () => child.kill('SIGKILL') // its fleet then ends by itself
    leftovers.add(kill)
    child.on('exit', (code, signal) => {
      leftovers.delete(kill)
      resolve(signal ?? code ?? -1)
    })
  })
  const ready = new Promise<string>((resolve, reject) => {
    const lines = createInterface({ input: child.stdout! })
    lines.on('line', line => {
      stdout += `${line}\n`
      if (line.startsWith('ready ')) resolve(line)
    })
    ended.then(how =>
      reject(
        new Error(`rollcall ${args.join(' ')} ended with ${how} before it was ready\n${stdout}${stderr}`),
      ),
    )
  })
  ready.catch(() => {}) // whoever waits for it sees the rejection; a test of a failing start does not wait
  return {
    child,
    ready,
    ended,
    stderr: () => stderr,
    stop: () => {
      child.kill('SIGTERM')
      return ended
    },
  }
}

/** Runs `bin/rollcall` to its end. */
export async function runRollcall(args: string[], environment: Record<string, string> = {}) {
  const child = spawn(executable, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  const code = await new Promise<number | null>(resolve => child.on('close', resolve))
  return { code, stdout, stderr }
}

/** A folder of its own for one test; `remove` it afterwards. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'rollcall-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}
