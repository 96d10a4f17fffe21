import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { eventually } from '../support/eventually.ts'
import { type Program, programPath } from './folder.ts'

export interface RunningProgram {
  pid: number
  /** All that it has printed. */
  output(): string
  /** Resolves once it has ended. */
  ended: Promise<void>
  /** SIGTERM, after ten seconds SIGKILL; waits for the end. */
  stop(): Promise<void>
}

const STOP_WITHIN = 10_000

/** Programs that still run; a test that is interrupted leaves none behind. */
const leftovers = new Set<number>()
process.once('exit', () => {
  for (const pid of leftovers) process.kill(pid, 'SIGKILL')
})

export interface ProgramOptions {
  flags: Readonly<Record<string, string>>
  /** Where it prints to. */
  logFile: string
  /** Asked until it gives true. */
  isReady(): Promise<boolean>
  environment?: Record<string, string>
  /** Milliseconds; default a minute. */
  readyWithin?: number
}

/** Starts a program of the folder and waits until it is ready. Rejects with what it printed when it ends before. */
export async function startProgram(
  program: Program,
  { flags, logFile, isReady, environment = {}, readyWithin = 60_000 }: ProgramOptions,
): Promise<RunningProgram> {
  const log = openSync(logFile, 'a')
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const child = spawn(programPath(program), args, {
    stdio: ['ignore', log, log],
    env: { PATH: process.env.PATH, ...environment },
  })
  closeSync(log)
  const pid = child.pid
  if (pid === undefined) throw new Error(`${programPath(program)} cannot be started`)
  leftovers.add(pid)
  let hasEnded = false
  const ended = new Promise<void>(resolve =>
    child.once('exit', () => {
      hasEnded = true
      leftovers.delete(pid)
      resolve()
    }),
  )
  const output = () => readFileSync(logFile, 'utf8')
  const running: RunningProgram = {
    pid,
    output,
    ended,
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN)
      await ended
      clearTimeout(timer)
    },
  }
  try {
    await eventually(
      `${program} is ready`,
      async () => {
        if (hasEnded) throw new Error(`${program} has ended`)
        return isReady().catch(() => false)
      },
      readyWithin,
    )
    return running
  } catch (error) {
    await running.stop()
    throw new Error(`${program} did not become ready:\n${output().slice(-4000)}`, { cause: error })
  }
}
