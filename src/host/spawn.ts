import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import { systemCode } from '../errors.ts'
import type { RunOrder, RunResult, Spawn, SpawnOrder, TalkingProcess } from '../ports.ts'

export const systemSpawn: Spawn = {
  user: process.getuid?.() ?? -1,
  async start(order) {
    // Files, never pipes: a pipe would break when we end.
    const output = openSync(order.output, 'a', 0o640)
    try {
      const child = spawnChild(order, ['ignore', output, output])
      const ended = new Promise<void>(resolve => child.on('exit', () => resolve()))
      const processId = await started(child)
      child.unref()
      return { processId, ended }
    } finally {
      closeSync(output)
    }
  },
  run: order => run(order),
  talk: order => talk(order),
  signal(target, signal) {
    try {
      process.kill(target, signal)
    } catch (error) {
      if (systemCode(error) !== 'ESRCH') throw error
    }
  },
}

/** `detached` is setsid: a session and a process group of its own. */
function spawnChild(order: SpawnOrder, stdio: ('ignore' | 'pipe' | number)[]): ChildProcess {
  const { command, args, environment, directory } = order
  return spawn(command, args, { stdio, env: { ...environment }, cwd: directory, detached: true })
}

function started(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('spawn', () => resolve(child.pid ?? 0))
  })
}

async function talk(order: SpawnOrder): Promise<TalkingProcess> {
  const child = spawnChild(order, ['pipe', 'pipe', 'pipe'])
  const { stdin, stdout, stderr } = child
  if (!stdin || !stdout || !stderr) throw new TypeError('a child without pipes')
  // A child may end before it has read all; its exit code tells how it fared.
  stdin.on('error', () => {})
  // A child of the command may hold the pipes open for ever: what the command itself left is there when it has exited.
  const ended = new Promise<number>(resolve => {
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  })
  const processId = await started(child)
  return {
    processId,
    write: bytes =>
      new Promise(resolve => {
        if (stdin.destroyed || stdin.writableEnded) resolve()
        else stdin.write(bytes, () => resolve())
      }),
    end: () => void stdin.end(),
    stdout,
    stderr,
    ended,
    kill: () => {
      // Its id may be somebody else's by now.
      if (child.exitCode === null && child.signalCode === null) systemSpawn.signal(-processId, 'SIGKILL')
    },
  }
}

async function run(order: RunOrder): Promise<RunResult> {
  order.signal?.throwIfAborted()
  const child = spawnChild(order, ['ignore', 'pipe', 'pipe'])
  const closed = new Promise<number>(resolve => {
    child.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  })
  const endGroup = () => {
    if (child.pid !== undefined) systemSpawn.signal(-child.pid, 'SIGKILL')
  }
  const stdout = collect(child, 'stdout', order.mostOutput, endGroup)
  const stderr = collect(child, 'stderr', order.mostOutput, () => {})
  await started(child)
  order.signal?.addEventListener('abort', endGroup, { once: true })
  if (order.signal?.aborted) endGroup()
  try {
    const code = await closed
    order.signal?.throwIfAborted()
    return { code, stdout: stdout(), stderr: stderr() }
  } finally {
    order.signal?.removeEventListener('abort', endGroup)
  }
}

/** Keeps the first `most` bytes; `onMore` is called when there are more. */
function collect(child: ChildProcess, from: 'stdout' | 'stderr', most: number, onMore: () => void) {
  const chunks: Buffer[] = []
  let size = 0
  child[from]?.on('data', (chunk: Buffer) => {
    if (size + chunk.length > most) onMore()
    const kept = chunk.subarray(0, Math.max(0, most - size))
    size += kept.length
    chunks.push(kept)
  })
  return () => new Uint8Array(Buffer.concat(chunks))
}
